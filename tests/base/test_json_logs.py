"""What processes log with the setting `logs`."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compute.base import redaction
from compute.base.json_logs import JsonFormatter
from compute.base.settings import PROJECT, Settings
from compute.jobs import logs


def test_a_record_is_one_line_without_secrets_and_without_what_an_exception_quotes() -> None:
    redaction.keep("only-in-the-file")
    try:
        raise ValueError("the text of a document")
    except ValueError:
        about = sys.exc_info()
    record = logging.LogRecord(
        "compute.x", logging.WARNING, "", 0, "a\n%s", ("only-in-the-file",), about
    )
    line = JsonFormatter().format(record)
    assert "\n" not in line
    told = json.loads(line)
    assert told.pop("time").endswith("+00:00")
    (passed,) = told.pop("at")
    assert passed.startswith("test_json_logs.py:")
    assert told == {
        "level": "warning",
        "logger": "compute.x",
        "message": "a\n***",
        "process": os.getpid(),
        "error": "ValueError",
    }


def test_a_line_of_a_job_has_its_id(tmp_path: Path) -> None:
    lines: list[dict[str, str]] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(json.loads(JsonFormatter().format(record)))
    try:
        logs.log.addHandler(handler)
        logs.log.setLevel(logging.INFO)
        logs.write(Settings(home=tmp_path), "run-0123456789ab.0000", "search: begins")
    finally:
        logs.log.removeHandler(handler)
        logs.log.setLevel(logging.NOTSET)
    told = [(line["message"], line["job"]) for line in lines]
    assert told == [("search: begins", "run-0123456789ab.0000")]


@pytest.mark.long
def test_a_command_logs_what_became_of_it(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "compute", "jobs", "cancel", "none"]
    own = {**os.environ, "BEIRSCOPE_HOME": str(tmp_path), "BEIRSCOPE_LOGS": "json"}
    ended = subprocess.run(words, cwd=PROJECT, env=own, capture_output=True, check=False)
    why, last = map(json.loads, ended.stderr.splitlines())
    assert (ended.returncode, why["level"]) == (2, "error")
    assert last["message"].startswith("jobs cancel: status 2, ")
