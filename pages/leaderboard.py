"""Leaderboard: which system is best, and on which datasets?"""

from compute.views.leaderboard.page import page
from pages._shared import renderer

renderer.page("Leaderboard", page)
