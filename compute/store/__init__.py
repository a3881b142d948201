"""Immutable parts, and the manifest of the state that makes them visible."""
