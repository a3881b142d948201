"""The files of the pages, for who looks them up by folder: the only place that does."""

from compute.base.settings import PROJECT

PAGES = sorted((PROJECT / "pages").glob("[a-z]*.py"))
"""One file for each page; what pages share stands in files and folders with an underscore."""

SHARED = [
    ".".join(file.relative_to(PROJECT).with_suffix("").parts)
    for file in sorted((PROJECT / "pages").glob("_*/**/*.py")) + sorted(PROJECT.glob("pages/_*.py"))
    if file.stem != "__init__"
]
"""The module of each file that stands behind the pages."""
