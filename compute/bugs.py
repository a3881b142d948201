"""Bugs: logged with their traceback under an id, which is all that a person is shown."""

import logging
import uuid
from pathlib import Path

from compute import secret
from compute.parts import make_folder
from compute.settings import Settings


def record(settings: Settings, where: str, error: BaseException) -> tuple[str, Path]:
    """Write the traceback to a log of its own; returns its id and file."""
    bug = uuid.uuid4().hex[:8]
    log = settings.home / "logs" / f"bug-{bug}.log"
    make_folder(log.parent)
    handler = logging.FileHandler(log, encoding="utf-8")
    handler.setFormatter(secret.Formatter())
    logger = logging.Logger(f"beirscope.{where}")
    logger.addHandler(handler)
    try:
        logger.error("bug %s", bug, exc_info=error)
    finally:
        handler.close()
    return bug, log
