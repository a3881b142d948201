"""What tests of several kinds of systems begin with."""

from dataclasses import replace
from pathlib import Path

import pytest
from pandas import DataFrame

from compute.base.settings import Settings, load


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A small Java and two threads, in a home of the module's own."""
    home = tmp_path_factory.mktemp("home")
    return replace(load({"BEIRSCOPE_HOME": str(home)}), java_memory="256m", threads=2)


@pytest.fixture(scope="module")
def documents(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module's DOCUMENTS (doc_id, title, text) as the file that systems read."""
    file = tmp_path_factory.mktemp("world") / "documents.parquet"
    columns = ["doc_id", "title", "text"]
    DataFrame(request.module.DOCUMENTS, columns=columns).to_parquet(file)
    return file
