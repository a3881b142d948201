"""Files and folders, whatever they hold."""

import shutil
import tarfile
from pathlib import Path

from compute.base.errors import WrongInput


def untar(archive: tarfile.TarFile, folder: Path) -> None:
    """Write the plain files of an archive below a folder; links and devices are left out.

    `TarFile.extractall(filter="data")` would do, but Python has it from 3.11.4 on only. Raises
    WrongInput for a name that leads out of the folder.
    """
    root = folder.resolve()
    for member in archive:
        target = (root / member.name).resolve()
        if not target.is_relative_to(root):
            raise WrongInput(f"{member.name!r} leads out of the archive {archive.name}: not taken")
        content = archive.extractfile(member) if member.isfile() else None
        if content is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            with content, target.open("wb") as file:
                shutil.copyfileobj(content, file)
