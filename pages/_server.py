"""`python -m pages._server OPTION …`: `streamlit run app.py OPTION …`, made ready beforehand.

Streamlit imports what a page needs, and the store is opened, when somebody asks for the first
page: that one would take seconds longer than all others.
"""

import logging
import sys
from importlib import import_module
from pathlib import Path

from streamlit.web import cli
from threadpoolctl import threadpool_limits

from compute import bugs, disk, permissions, settings
from compute.errors import BeirscopeError
from compute.settings import PROJECT


def prepare() -> None:
    """Import what pages import, and open what is stored."""
    names = sorted(file.stem for file in Path(__file__).parent.glob("_*.py"))
    modules = {name: import_module(f"pages.{name}") for name in names}
    try:
        modules["_shared"].prepare()
    except BeirscopeError:
        # Every page will say so.
        return
    except Exception as error:
        now = settings.load()
        if not disk.refusal(error, now.home):
            bugs.record(now, "dashboard", error)


def main() -> None:
    """Serve until stopped."""
    with permissions.private():
        _serve()


def _serve() -> None:
    # Streamlit warns that it caches in memory while it does not serve yet; so it does later.
    logging.disable(logging.WARNING)
    prepare()
    logging.disable(logging.NOTSET)
    # Every page computes in a thread of its own; several more for each product of matrices only
    # wait for each other.
    threadpool_limits(1, user_api="blas")
    cli.main(["run", str(PROJECT / "app.py"), *sys.argv[1:]], prog_name="streamlit")


if __name__ == "__main__":
    main()
