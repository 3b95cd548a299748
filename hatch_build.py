"""Packs kernels that were compiled ahead of time into the wheel (`make wheel`)."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = "infinimix/kernels/ahead_of_time"


class Kernels(BuildHookInterface):  # type: ignore[type-arg, misc]
    """Without kernels the wheel is one for every platform, and they compile when called."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the kernels, and name the wheel by the Python and platform that can use them."""
        folder = Path(self.root, "src", KERNELS)
        if folder.is_dir() and version == "standard":
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["force_include"][str(folder)] = KERNELS
