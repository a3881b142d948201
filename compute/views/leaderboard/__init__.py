"""The views of the page Leaderboard."""
