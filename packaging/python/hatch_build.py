"""Put the program weir, its version and its platform into the wheel. The script build sets the variables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


def _given(name: str) -> str:
    """Return a variable that the script build sets."""
    if not os.environ.get(name):
        raise ValueError(f"{name}: is not set, must be: the wheel is made by packaging/python/build BINARY... OUT")
    return os.environ[name]


class Version(MetadataHookInterface):
    """Gives the wheel the version that the program prints."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the version."""
        metadata["version"] = _given("WEIR_WHEEL_VERSION")


class Program(BuildHookInterface[Any]):
    """Puts the program beside the scripts of the environment, where installers make it executable."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the program, and the tag of its platform."""
        program = _given("WEIR_WHEEL_PROGRAM")
        build_data["pure_python"] = False
        build_data["tag"] = _given("WEIR_WHEEL_TAG")
        build_data["shared_scripts"] = {program: Path(program).name}
