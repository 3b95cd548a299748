"""A file in which benchmarks keep what they have measured, so that a run can be resumed.

It is one JSON object; each benchmark has keys of its own in it. A file is replaced whole, so that
a run that is stopped leaves the results of before.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

VARIABLE = "INFINIMIX_BENCH_CACHE"  # environment variable: the file, if there shall be one


def place() -> Path | None:
    """The file that the environment names, or None."""
    return Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None


def read(file: Path | None) -> dict[str, Any]:
    """What has been kept; nothing if there is no file yet."""
    if file is None or not file.exists():
        return {}
    return dict(json.loads(file.read_text(encoding="utf-8")))


def write(file: Path | None, known: dict[str, Any]) -> None:
    """Keep everything, if there is a file to keep it in."""
    if file is not None:
        part = file.with_suffix(file.suffix + ".part")
        part.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        part.replace(file)
