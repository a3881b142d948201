"""The foundations: settings, errors, locks, files, words. Imports no other room of the project."""
