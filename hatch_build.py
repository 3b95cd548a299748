"""Compiles kernels when infinimix is installed, so that whoever uses it waits for none.

As packages with compiled code do: that takes a minute or two on two cores. `pip install .` packs
them into the wheel; with `pip install -e .` they lie in the source tree, as after `make`.
INFINIMIX_AHEAD names a folder of kernels to pack instead (`make wheel` does this), or is "none":
such a wheel is one for every platform, and kernels compile when they are first called.

Kernels are for one version of numba. pip builds in an environment of its own, with the newest, but
leaves an older one alone where it installs: then it is that one which has to compile.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = "infinimix/kernels/ahead_of_time"
BUILD = """
import pathlib, sys
from infinimix.kernels import ahead
ahead.build(pathlib.Path(sys.argv[1]))
"""
INSTALLED = """
import sys
from importlib.metadata import version
print(version("numba"), *sys.path, sep="\\n")
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
        self.app.display_info("Compiling kernels (a minute or two)")
        for path in self._paths():
            path = os.pathsep.join([str(Path(self.root, "src")), *path])
            command = [sys.executable, "-c", BUILD, str(folder)]
            done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, check=False)
            if done.returncode == 0:
                return True
        self.app.display_warning("Kernels were not compiled; they will be when first called")
        return False

    def _paths(self) -> Iterator[list[str]]:
        """Yield where packages are looked for, first to last: the second way if the first fails."""
        numba, installed = find_installed()
        if numba is not None and self._accepts(numba) and numba != version_of("numba"):
            yield [*installed, *filter(has_packages, sys.path)]  # what is not there yet is here
        yield list(filter(None, [PYTHONPATH]))

    def _accepts(self, numba: str) -> bool:
        """Will pip leave this version of numba alone?"""
        from packaging.requirements import Requirement  # hatchling brings it

        needs = map(Requirement, self.metadata.core.dependencies)
        return all(
            need.specifier.contains(numba)
            for need in needs
            if need.name == "numba" and (need.marker is None or need.marker.evaluate())
        )


def find_installed() -> tuple[str | None, list[str]]:
    """Return which numba is installed where pip installs to, and where packages are there.

    It is the same Python: what pip hides it hides by these variables.
    """
    hidden = "PYTHONPATH", "PYTHONNOUSERSITE"
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [sys.executable, "-c", INSTALLED]
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        return None, []
    numba, *path = done.stdout.splitlines()
    return numba, list(filter(has_packages, path))


def has_packages(place: str) -> bool:
    """Does Python keep installed packages there?"""
    return Path(place).name in {"site-packages", "dist-packages"}
