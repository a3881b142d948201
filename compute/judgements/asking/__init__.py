"""Asking a machine for grades: what it is told, where it is, and a record of every request."""
