"""Foundations: settings, errors, locks, files, words. Imports none of our other rooms."""
