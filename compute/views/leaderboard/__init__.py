"""For the page Leaderboard."""
