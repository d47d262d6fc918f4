# SPDX-License-Identifier: Apache-2.0
"""Puts the C++ headers, which lie elsewhere in the repository, into wheel and source package.

A source package carries them in `include`, so that a wheel can be built from it alone. An editable
installation has none: warpscope.include_dir() then is the repository's own folder.
"""

import pathlib

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HEADERS = ("warpscope.cuh", "warpscope_host.hpp", "warpscope")


class HeadersHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if version == "editable":
            return
        root = pathlib.Path(self.root)
        headers = root / "include"
        if not headers.is_dir():
            headers = root.parent.parent / "include"
        target = "warpscope/include" if self.target_name == "wheel" else "include"
        for name in HEADERS:
            if not (headers / name).exists():
                raise FileNotFoundError(f"{headers / name}: build inside of the repository")
            build_data["force_include"][str(headers / name)] = f"{target}/{name}"
