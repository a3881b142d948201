"""The files of the pages; only this module lists them."""

from compute.base.settings import PROJECT

PAGES = sorted((PROJECT / "pages").glob("[a-z]*.py"))
"""One file per page; shared files and folders begin with an underscore."""

SHARED = [
    ".".join(file.relative_to(PROJECT).with_suffix("").parts)
    for file in sorted((PROJECT / "pages").glob("_*/**/*.py")) + sorted(PROJECT.glob("pages/_*.py"))
    if file.stem != "__init__"
]
"""The names of the other modules below pages/."""
