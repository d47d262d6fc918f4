# SPDX-License-Identifier: Apache-2.0
"""tools/check_version.py passes places that agree, and names those that do not."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools/check_version.py"
GOOD = {
    "include/gpufl/version.hpp": "#define GPUFL_VERSION_MAJOR 1\n#define GPUFL_VERSION_MINOR 2\n"
    '#define GPUFL_VERSION_PATCH 3\n#define GPUFL_VERSION "1.2.3"\n',
    "python/warpscope/src/warpscope/_version.py": '__version__ = "0.2.0"\n',
    "format/SPEC.md": "major version of this format: 1\n",
    "src/format/schema.hpp": "inline constexpr int kFormatMajor = 1;\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## 1.2.3 (2026-01-31)\n\n- New.\n\n## 1.2.2 (2026-01-30)\n",
}


class VersionTest(unittest.TestCase):
    def run_check(self, *arguments, **changes):
        """With files changed: those that have `old` in them have `new` instead."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in GOOD.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text.replace(changes["old"], changes["new"]) if changes else text)
            command = [sys.executable, CHECK, "--root", folder, *arguments]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def assert_fails(self, message, *arguments, **changes):
        done = self.run_check(*arguments, **changes)
        self.assertEqual(done.returncode, 1)
        self.assertIn(message, done.stderr)

    def test_passes_places_that_agree(self):
        done = self.run_check("--tag", "v1.2.3", "--notes")
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "- New.\n"))

    def test_names_places_that_do_not(self):
        self.assert_fails("the parts are 1.2.4", old="PATCH 3", new="PATCH 4")
        self.assert_fails("no version of three numbers", old="0.2.0", new="0.2")
        self.assert_fails("SPEC.md describes format 2", old="format: 1", new="format: 2")
        self.assert_fails("the newest version comes first", old="1.2.2 (", new="1.2.4 (")
        self.assert_fails("has a newer version", old="1.2.3 (", new="1.3.0 (")
        self.assert_fails("is no version with its day", old=" (2026-01-31)", new="")
        self.assert_fails('the first section is "Unreleased"', old="## Unreleased\n\n", new="")

    def test_holds_a_tag_against_them(self):
        self.assert_fails("is not that of version 1.2.3", "--tag", "v1.2.4")
        self.assert_fails("no section of version", "--tag", "v1.2.3", old="## 1.2.3", new="## 1.2.1")


if __name__ == "__main__":
    unittest.main()
