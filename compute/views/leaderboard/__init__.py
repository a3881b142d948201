"""Views of the Leaderboard page."""
