"""The command line: each command is a function whose signature defines its options."""
