"""Figures: a frame goes in, a Plotly figure comes out; `theme` is "light", "dark" or "print"."""
