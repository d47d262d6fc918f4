# SPDX-License-Identifier: Apache-2.0
"""The checks of what is given away: each passes what is right and names what is wrong."""

import base64
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_binaries
import check_wheel
import third_party

COMPILER = os.environ.get("CXX", "c++")
GOOD_MAP = """Archive member included to satisfy reference by file (symbol)

archive/libgpufl_cli.a(print.cpp.o)
                              apps/gpufl.cpp.o (print)
/usr/lib/x86_64-linux-gnu/libzstd.a(zstd_common.o)
                              archive/libgpufl_format.a(seal.cpp.o) (ZSTD_isError)
/usr/lib/x86_64-linux-gnu/libiberty.a(cp-demangle.o)
                              archive/libgpufl_symbols.a(demangle.cpp.o) (cplus_demangle_v3_callback)

Discarded input sections

 .group         0x0000000000000000        0x8 /usr/lib/x86_64-linux-gnu/libdw.a(not_linked.o)
"""


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, name, source, *options):
        (self.folder / "source.cpp").write_text(source)
        target = self.folder / name
        command = [COMPILER, "-shared", "-fPIC", "-nostdlib", self.folder / "source.cpp", *options]
        subprocess.run([*command, "-o", target], check=True)
        return target


class BinariesTest(Folder):
    def needs(self, path, glibc="2.34"):
        return list(check_binaries.check_needs(path, glibc))

    def linked(self, text):
        (self.folder / "a.map").write_text(text)
        return list(check_binaries.check_linked(self.folder / "a.map"))

    def test_passes_what_needs_glibc_alone(self):
        path = self.compile("a.so", 'extern "C" int getpid(); int f() { return getpid(); }', "-lc")
        self.assertEqual(self.needs(path), [])

    def test_refuses_a_newer_glibc(self):
        path = self.compile("a.so", 'extern "C" int getpid(); int f() { return getpid(); }', "-lc")
        self.assertIn("needs glibc 2.2.5", self.needs(path, "2.2"))

    def test_refuses_elfutils_that_is_linked(self):
        self.compile("libdw.so", 'extern "C" int dwarf_end() { return 0; }', "-Wl,-soname,libdw.so.1")
        source = 'extern "C" int dwarf_end(); int f() { return dwarf_end(); }'
        path = self.compile("a.so", source, f"-L{self.folder}", "-ldw")
        self.assertEqual(sorted(set(self.needs(path))), ["has elfutils' dwarf_end", "needs libdw.so.1"])

    def test_refuses_elfutils_that_is_inside(self):
        path = self.compile("a.so", 'extern "C" int elf_begin() { return 0; }')
        self.assertIn("has elfutils' elf_begin", self.needs(path))

    def test_refuses_folders_of_the_machine_that_built_it(self):
        path = self.compile("a.so", "int f() { return 0; }", "-Wl,-rpath,$ORIGIN/../lib:/home/me")
        self.assertEqual(self.needs(path), ["looks for libraries in $ORIGIN/../lib:/home/me"])

    def test_passes_what_may_be_linked(self):
        self.assertEqual(self.linked(GOOD_MAP), [])

    def test_refuses_an_archive_that_is_not_listed(self):
        errors = self.linked(GOOD_MAP.replace("libzstd.a", "libdw.a"))
        self.assertEqual(errors, ["links libdw.a, which tools/third_party.py does not list"])

    def test_refuses_a_member_without_the_exception(self):
        errors = self.linked(GOOD_MAP.replace("cp-demangle.o", "safe-ctype.o"))
        self.assertEqual(errors, ["links safe-ctype.o of libiberty.a, whose licence does not let it"])

    def test_refuses_a_map_that_shows_nothing(self):
        self.assertEqual(len(self.linked("Memory Configuration\n")), 1)


class WheelTest(Folder):
    def make(self, name="warpscope-1.2.3-py3-none-any.whl", tag=None, drop=(), spoil=(), more=None):
        """A wheel that is right but for what the arguments say."""
        project, version, own_tag = name.removesuffix(".whl").split("-", 2)
        info = f"{project}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.4\nName: {project}\nVersion: {version}\n"
        metadata += "License-Expression: Apache-2.0\nLicense-File: LICENSE\n"
        files = {
            f"{project}/__init__.py": b"pass\n",
            f"{info}/METADATA": metadata.encode(),
            f"{info}/WHEEL": f"Wheel-Version: 1.0\nTag: {tag or own_tag}\n".encode(),
            f"{info}/licenses/LICENSE": b"Apache\n",
            **(more or {}),
        }
        record = ""
        for path, content in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            record += f"{path},sha256={digest},{len(content)}\n"
        files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
        with zipfile.ZipFile(self.folder / name, "w") as wheel:
            for path, content in files.items():
                if path not in drop:
                    wheel.writestr(path, b"other" if path in spoil else content)
        return list(check_wheel.check(self.folder / name, maps=None))

    def test_passes_a_pure_wheel(self):
        self.assertEqual(self.make(), [])

    def test_compares_files_with_the_record(self):
        module = "warpscope/__init__.py"
        self.assertEqual(self.make(spoil=[module]), [f"RECORD has another sum or size of {module}"])
        self.assertEqual(self.make(drop=[module]), [f"{module} is in the wheel or in RECORD, not in both"])

    def test_wants_the_licence(self):
        errors = self.make(drop=["warpscope-1.2.3.dist-info/licenses/LICENSE"])
        self.assertIn("the licence's file LICENSE is missing", errors)

    def test_compares_tags(self):
        self.assertEqual(self.make(tag="py3-none-linux"), ["WHEEL has the tags ['py3-none-linux']"])

    def test_refuses_binaries_in_a_pure_wheel(self):
        errors = self.make(more={"warpscope/a.so": b"\x7fELF..."})
        self.assertEqual(errors, ["warpscope/a.so is a binary in a pure wheel"])

    def test_refuses_a_wheel_for_this_machine_alone(self):
        errors = self.make("gpufl-1.2.3-cp312-abi3-linux_x86_64.whl")
        self.assertEqual(errors, ["linux_x86_64 is no tag that other machines install"])

    def test_wants_binaries_notices_and_bill_of_a_wheel_that_has_some(self):
        errors = self.make("gpufl-1.2.3-cp312-abi3-manylinux_2_34_x86_64.whl")
        for name in ("_core.abi3.so", "bin/gpufl", "lib/libgpufl_inject.so"):
            self.assertIn(f"gpufl/{name} is missing", errors)
        for name in ("licenses/THIRD_PARTY_NOTICES.txt", "sboms/gpufl.cdx.json"):
            self.assertIn(f"gpufl-1.2.3.dist-info/{name} is missing", errors)

    def test_wants_each_part_in_notices_and_bill(self):
        info = "gpufl-1.2.3.dist-info"
        more = {
            f"{info}/licenses/{third_party.NOTICES}": b"nothing\n",
            f"{info}/sboms/{third_party.BILL}": b'{"components": []}',
        }
        errors = self.make("gpufl-1.2.3-cp312-abi3-manylinux_2_34_x86_64.whl", more=more)
        self.assertIn("the bill of materials has no SQLite with a version", errors)
        self.assertIn("the notices have no text of CLI11", errors)


class ThirdPartyTest(unittest.TestCase):
    def test_agrees_with_what_is_said_to_people(self):
        rows = {}
        for line in (ROOT / "THIRD_PARTY.md").read_text().splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) == 4:
                rows[cells[0]] = cells[1]
        for part in third_party.PARTS:
            self.assertIn(part.licence, rows.get(part.name, ""), part.name)

    def test_lists_nothing_that_is_plain_lgpl_or_gpl(self):
        for part in third_party.PARTS:
            if "GPL" in part.licence:
                self.assertRegex(part.licence, "WITH GCC-exception|with unlimited permission to link")

    def test_bill_names_every_part(self):
        bill = third_party.bill_of_materials("1.2.3", third_party.parts_of(is_python=False))
        self.assertEqual((bill["bomFormat"], bill["specVersion"]), ("CycloneDX", "1.5"))
        self.assertEqual(bill["metadata"]["component"]["version"], "1.2.3")
        names = [component["name"] for component in bill["components"]]
        self.assertIn("SQLite", names)
        self.assertNotIn("nanobind", names)
        json.dumps(bill)

    def test_versions_are_those_of_packages_that_are_installed(self):
        bill = third_party.bill_of_materials("1.2.3", third_party.parts_of(is_python=False))
        libraries = {component["name"]: component for component in bill["components"]}
        if "version" not in libraries["Zstandard"]:
            self.skipTest("no Debian package of Zstandard is installed")
        self.assertRegex(libraries["Zstandard"]["purl"], r"^pkg:deb/\w+/libzstd-dev@1\.")
        notices = third_party.notices(third_party.parts_of(is_python=False))
        self.assertIn("Redistribution", notices)


if __name__ == "__main__":
    unittest.main()
