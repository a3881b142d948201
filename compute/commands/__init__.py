"""What the commands do: each takes its parsed arguments and returns the exit status."""
