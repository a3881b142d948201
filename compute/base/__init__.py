"""The foundations: settings, errors, locks, files and words. Imports no other room of the
project."""
