"""Immutable parts, and the manifest in the state that makes them visible."""
