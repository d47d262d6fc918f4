# SPDX-License-Identifier: Apache-2.0
"""What is built: headers inside, and a source package that stands alone."""

import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest

import warpscope as ws

PROJECT = pathlib.Path(__file__).resolve().parents[1]
REPOSITORY = PROJECT.parents[1]

pytestmark = pytest.mark.skipif(
    not (REPOSITORY / "include" / "warpscope.cuh").is_file(), reason="not in the repository"
)


def headers(names, prefix):
    return {name[len(prefix) :] for name in names if name.startswith(prefix)}


def wanted_headers():
    include = REPOSITORY / "include"
    paths = [
        include / "warpscope.cuh",
        include / "warpscope_host.hpp",
        *(include / "warpscope").iterdir(),
    ]
    return {path.relative_to(include).as_posix() for path in paths}


def test_headers_include_nothing_but_each_other():
    include = REPOSITORY / "include"
    for name in wanted_headers():
        for other in re.findall(r"#include <(warpscope\S*)>", (include / name).read_text()):
            assert (include / other).is_file(), name


def test_wheel_and_source_package(tmp_path):
    pytest.importorskip("hatchling")

    def build(folder, target):
        command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(tmp_path)]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr

    build(PROJECT, "sdist")
    source = tmp_path / f"warpscope-{ws.__version__}.tar.gz"
    with tarfile.open(source) as archive:
        root = f"warpscope-{ws.__version__}/"
        assert headers(archive.getnames(), root + "include/") >= wanted_headers()
        archive.extractall(tmp_path, **({"filter": "data"} if sys.version_info >= (3, 12) else {}))
    # From the source package, where the repository is not.
    build(tmp_path / root, "wheel")
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert headers(names, "warpscope/include/") == wanted_headers()
        assert any(name.endswith("/licenses/LICENSE") for name in names)
        assert "warpscope/py.typed" in names


def test_the_licence_is_that_of_the_repository():
    assert (PROJECT / "LICENSE").read_text() == (REPOSITORY / "LICENSE").read_text()
