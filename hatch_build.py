"""Compiles kernels when infinimix is installed, so that whoever uses it waits for none.

As packages with compiled code do: that takes a minute or two on two cores. `pip install .` packs
them into the wheel; with `pip install -e .` they lie in the source tree, as after `make`.
INFINIMIX_AHEAD names a folder of kernels to pack instead (`make wheel` does this), or is "none":
such a wheel is one for every platform, and kernels compile when they are first called.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = "infinimix/kernels/ahead_of_time"
BUILD = """
import pathlib, sys
from infinimix.kernels import ahead
ahead.build(pathlib.Path(sys.argv[1]))
"""
GIVEN, PYTHONPATH = os.environ.get("INFINIMIX_AHEAD"), os.environ.get("PYTHONPATH")


class Kernels(BuildHookInterface):  # type: ignore[type-arg, misc]
    """Where kernels do not compile the wheel is built without them."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what compiling needs beside the sources: all that infinimix needs."""
        return [] if GIVEN else list(self.metadata.core.dependencies)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the kernels, and name the wheel by the Python and platform that can use them."""
        if version == "editable":
            if not GIVEN:
                self._compile(Path(self.root, "src", KERNELS))
            return
        if GIVEN == "none":
            return
        self.room = tempfile.TemporaryDirectory()  # it lives as long as this object
        folder = Path(self.root, GIVEN) if GIVEN else Path(self.room.name, "kernels")
        if GIVEN or self._compile(folder):
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["force_include"][str(folder)] = KERNELS

    def _compile(self, folder: Path) -> bool:
        """Compile the kernels into a folder; return whether that was possible."""
        path = os.pathsep.join([str(Path(self.root, "src")), *filter(None, [PYTHONPATH])])
        self.app.display_info("Compiling kernels (a minute or two)")
        done = subprocess.run(
            [sys.executable, "-c", BUILD, str(folder)],
            env=os.environ | {"PYTHONPATH": path},
            check=False,
        )
        if done.returncode:
            self.app.display_warning("Kernels were not compiled; they will be when first called")
        return not done.returncode
