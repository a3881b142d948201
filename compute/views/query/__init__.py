"""Views of the Query and Map pages."""
