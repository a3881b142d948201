"""The views of the Leaderboard page."""
