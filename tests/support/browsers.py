"""The Chromium that tests drive."""

import os
import shutil

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu-rasterization",
    "--in-process-gpu",
    # Tabs of one address share a process: what one has compiled of Streamlit and Plotly, all have.
    "--process-per-site",
]


def chromium() -> str | None:
    """The browser to drive: `$BEIRSCOPE_CHROMIUM`, or one on the PATH."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = (shutil.which(name) for name in names)
    return os.environ.get("BEIRSCOPE_CHROMIUM") or next(filter(None, found), None)
