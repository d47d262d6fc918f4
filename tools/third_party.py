#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What others wrote that is inside of what we give away, and what we owe them for it.

THIRD_PARTY.md says it to people; PARTS below says it to programs, and a test compares the two. For a
build of what is given away, main() writes the notices that some licences ask for and a bill of
materials (CycloneDX 1.5) with the versions that are installed here.

third_party.py --version 1.2.3 --output FOLDER [--python]
"""

import argparse
import dataclasses
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import urllib.parse
import uuid

NOTICES = "THIRD_PARTY_NOTICES.txt"
BILL = "gpufl.cdx.json"
RULE = "=" * 78  # between parts of the notices


@dataclasses.dataclass(frozen=True)
class Part:
    name: str  # in THIRD_PARTY.md
    licence: str  # an SPDX expression, or words where SPDX has none
    package: str  # of Debian, of PyPI where it is in the Python package alone, or of npm
    archives: tuple = ()  # static libraries; none: it is compiled in
    members: tuple = ()  # of the archives, those that may be linked; none: all
    notice: str = ""  # the end of its text's path, where the licence wants that beside binaries
    only_python: bool = False
    is_script: bool = False  # a part of the dashboard


# What the dashboard's build says of the packages in it; absent where the programs have none.
DASHBOARD = pathlib.Path(__file__).resolve().parent.parent / "web/dist/packages.json"

# What is given away may link these and nothing else. SPDX has no name for the exception.
UNLIMITED_LINKING = "LGPL-2.0-or-later with unlimited permission to link"
PARTS = (
    Part("Zstandard", "BSD-3-Clause", "libzstd-dev", ("libzstd.a",), notice="copyright"),
    Part("{fmt}", "MIT", "libfmt-dev"),
    Part("CLI11", "BSD-3-Clause", "libcli11-dev", notice="copyright"),
    Part("Boost.Asio, Boost.Beast", "BSL-1.0", "libboost1.*-dev"),
    Part(
        "libiberty (its demanglers)",
        UNLIMITED_LINKING,
        "libiberty-dev",
        ("libiberty.a",),
        ("cp-demangle.o", "rust-demangle.o"),
    ),
    Part("zlib", "Zlib", "zlib1g-dev", ("libz.a",)),
    Part("SQLite", "blessing", "libsqlite3-dev", ("libsqlite3.a",)),
    Part("OpenSSL", "Apache-2.0", "libssl-dev", ("libcrypto.a",)),
    Part(
        "libstdc++, libgcc",
        "GPL-3.0-or-later WITH GCC-exception-3.1",
        "libstdc++-{gcc}-dev",
        ("libstdc++.a", "libgcc.a", "libgcc_eh.a"),
    ),
    Part("glibc (its static part)", UNLIMITED_LINKING, "libc6-dev", ("libc_nonshared.a",)),
    Part("nanobind", "BSD-3-Clause", "nanobind", notice="licenses/LICENSE", only_python=True),
    Part("tsl::robin_map", "MIT", "nanobind", notice="tsl/robin_map.h", only_python=True),
    Part("React", "MIT", "react", notice="LICENSE", is_script=True),
    Part("React DOM", "MIT", "react-dom", notice="LICENSE", is_script=True),
    Part("scheduler (of React)", "MIT", "scheduler", notice="LICENSE", is_script=True),
    Part("use-sync-external-store (of React)", "MIT", "use-sync-external-store", notice="LICENSE", is_script=True),
    Part("TanStack Query", "MIT", "@tanstack/react-query", notice="LICENSE", is_script=True),
    Part("TanStack Virtual", "MIT", "@tanstack/react-virtual", notice="LICENSE", is_script=True),
    Part("uPlot", "MIT", "uplot", notice="LICENSE", is_script=True),
    Part("wouter", "Unlicense", "wouter", is_script=True),
    Part("regexparam", "MIT", "regexparam", notice="license", is_script=True),
)


class Installed:
    """Where a part comes from on this machine; all is empty where that cannot be said."""

    def __init__(self, part):
        self.version = self.url = self.notice = ""
        if part.is_script:
            self._find_script(part)
        elif part.only_python:
            self._find_wheel(part)
        else:
            self._find_package(part)

    def _find_wheel(self, part):
        try:
            wheel = importlib.metadata.distribution(part.package)
        except importlib.metadata.PackageNotFoundError:
            return
        self.version = wheel.version
        self.url = f"pkg:pypi/{part.package}@{wheel.version}"
        for path in wheel.files or ():
            if part.notice and str(path).endswith(part.notice):
                self.notice = _licence_text(pathlib.Path(str(path.locate())))

    def _find_script(self, part):
        found = json.loads(DASHBOARD.read_text(encoding="utf-8")).get(part.package, {})
        self.version = found.get("version", "")
        self.url = f"pkg:npm/{part.package.replace('@', '%40')}@{self.version}"
        self.notice = found.get("licence", "") if part.notice else ""

    def _find_package(self, part):
        pattern = part.package.replace("{gcc}", _gcc_version())
        fields = "${db:Status-Status} ${Package} ${Version}\n"
        rows = [line.split() for line in _output("dpkg-query", "-W", f"-f={fields}", pattern).splitlines()]
        for _, package, version in (row for row in rows if row[0] == "installed"):
            self.version = version
            system = platform.freedesktop_os_release()["ID"]
            self.url = f"pkg:deb/{system}/{package}@{urllib.parse.quote(version, safe='')}"
            if part.notice:
                self.notice = _licence_text(pathlib.Path("/usr/share/doc", package, part.notice))


def _output(*command):
    """What it prints; nothing where there is no such program."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""


def _gcc_version():
    return _output(os.environ.get("CXX", "c++"), "-dumpversion").strip().partition(".")[0]


def _licence_text(path):
    """The file, or of a C++ header the comment that it begins with."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".h":
        lines = text.partition("*/")[0].splitlines()[1:]
        text = "\n".join(line.removeprefix(" *").removeprefix(" ") for line in lines)
    return text.strip()


def parts_of(is_python):
    has_dashboard = DASHBOARD.exists()
    return [
        part
        for part in PARTS
        if (is_python or not part.only_python) and (has_dashboard or not part.is_script)
    ]


def notices(parts):
    """Text for people: every part, and where its licence wants it the whole of that."""
    text = "GPUFlight contains parts of the following software.\n"
    for part in parts:
        installed = Installed(part)
        text += f"\n{RULE}\n{part.name} {installed.version}\nLicence: {part.licence}\n"
        if installed.notice:
            text += f"\n{installed.notice}\n"
    return text


def _component(part):
    installed = Installed(part)
    is_expression = part.licence != UNLIMITED_LINKING
    licence = {"expression": part.licence} if is_expression else {"license": {"name": part.licence}}
    component = {"type": "library", "name": part.name, "licenses": [licence]}
    if installed.version:
        component |= {"version": installed.version, "purl": installed.url}
    return component


def bill_of_materials(version, parts):
    """As CycloneDX 1.5; the same for the same sources and packages, when SOURCE_DATE_EPOCH is set."""
    components = [_component(part) for part in parts]
    now = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    subject = {
        "type": "application",
        "name": "gpufl",
        "version": version,
        "licenses": [{"expression": "Apache-2.0"}],
    }
    identity = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([subject, components, now]))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": identity.urn,
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(now, datetime.timezone.utc).isoformat(),
            "component": subject,
        },
        "components": components,
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--python", action="store_true", help="of the Python package")
    arguments = parser.parse_args()
    parts = parts_of(arguments.python)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / NOTICES).write_text(notices(parts), encoding="utf-8")
    bill = json.dumps(bill_of_materials(arguments.version, parts), indent=2)
    (arguments.output / BILL).write_text(bill + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
