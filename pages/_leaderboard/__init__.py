"""The sections of the page Leaderboard."""
