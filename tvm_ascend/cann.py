# SPDX-License-Identifier: Apache-2.0
"""Where the CANN toolkit is on this machine and whether its environment is set up."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from .isa.cann import OLDEST_CANN, version

_VERSION_FILES = (
    "*/ascend_toolkit_install.info",
    "version.cfg",
    "share/info/*/version.info",
    "compiler/version.info",
)
_USUAL_HOMES = ("cann", "ascend-toolkit/latest")


@dataclass(frozen=True, kw_only=True)
class Cann:
    """One CANN toolkit: ``home`` may be a folder that does not exist when the variable is stale."""

    home: Path
    version: str
    from_environment: bool

    @property
    def set_env(self) -> Path:
        """The script that sets up the shell for this toolkit."""
        for folder in (self.home, self.home.parent):
            if (folder / "set_env.sh").is_file():
                return folder / "set_env.sh"
        return self.home / "set_env.sh"

    @property
    def is_supported(self) -> bool:
        """Whether emitted Ascend C targets this version; an unreadable version counts as new."""
        numbers = version(self.version)
        return not numbers or numbers >= version(OLDEST_CANN)

    @property
    def libraries_on_path(self) -> bool:
        """Whether the loader would find this toolkit's libraries."""
        entries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
        wanted = (self.home / "lib64").resolve()
        return any(Path(entry).resolve() == wanted for entry in entries if entry)


def _version_of(home: Path) -> str:
    for pattern in _VERSION_FILES:
        for path in sorted(home.glob(pattern)):
            text = path.read_text(errors="replace")
            found = re.search(r"version\w*\s*=\s*\[?(?:[\w.]*:)?(\d[\w.\-]*)", text, re.IGNORECASE)
            if found:
                return found.group(1)
    return ""


def usual_roots() -> list[Path]:
    """The folders the installer proposes."""
    return [Path("/usr/local/Ascend"), Path.home() / "Ascend"]


def find_cann() -> Cann | None:
    """The toolkit the environment names, else one in a usual place, else None."""
    named = os.environ.get("ASCEND_HOME_PATH")
    if named:
        home = Path(named)
        return Cann(home=home, version=_version_of(home), from_environment=True)
    for root in usual_roots():
        for folder in _USUAL_HOMES:
            home = root / folder
            if home.is_dir():
                return Cann(home=home, version=_version_of(home), from_environment=False)
    return None
