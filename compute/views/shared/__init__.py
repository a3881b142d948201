"""Code shared by several pages. A figure function takes frames and a theme ("light", "dark" or
"print") and returns a Plotly figure."""
