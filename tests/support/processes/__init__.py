"""What tests start, and the programs that they start, disturb and kill."""
