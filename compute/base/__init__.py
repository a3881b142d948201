"""What all else stands on: settings, errors, locks, files, words. Imports nothing of ours."""
