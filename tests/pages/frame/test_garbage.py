"""The collector of garbage passes over what stays."""

import gc
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from compute.base.settings import PROJECT
from pages._frame import garbage


@pytest.mark.long
def test_a_page_leaves_no_module_to_the_collector_to_walk_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path))
    # Pages of tests before this one had the collector pass over what they brought.
    garbage._settled.clear()
    gc.unfreeze()
    walked = len(gc.get_objects())
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60).run()
    assert not app.exception
    assert gc.get_freeze_count() > walked / 2
