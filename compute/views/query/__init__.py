"""The views of the Query and Map pages."""
