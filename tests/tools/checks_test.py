# SPDX-License-Identifier: Apache-2.0
"""The checks in tools/: each passes a good tree and names what is wrong with a bad one."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = LICENCE + "#pragma once\n"


class ChecksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "--quiet", self.root], check=True)

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def run_check(self, name, *options):
        command = [sys.executable, TOOLS / f"check_{name}.py", "--root", self.root, *options]
        result = subprocess.run(command, capture_output=True, text=True)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return result.returncode, result.stderr, result.stdout

    def assert_passes(self, name):
        status, errors, _ = self.run_check(name)
        self.assertEqual((status, errors), (0, ""))

    def assert_fails(self, name, message, *options):
        status, errors, _ = self.run_check(name, *options)
        self.assertEqual(status, 1)
        self.assertIn(message, errors)

    def test_layers_allow_what_the_table_allows(self):
        self.write("include/gpufl/a.hpp", HEADER + "#include <gpufl/b.hpp>\n#include <string>\n")
        self.write("src/base/a.cpp", LICENCE + '#include "base/a.hpp"\n#include <sys/stat.h>\n')
        self.write("src/format/a.cpp", LICENCE + '#include "base/a.hpp"\n#include <zstd.h>\n')
        self.write("src/backend/registry.cpp", LICENCE + '#include "backend/nvidia/nvidia_backend.hpp"\n')
        self.write("src/backend/nvidia/nvml/api.cpp", LICENCE + '#include <nvml.h>\n#include "backend/backend.hpp"\n')
        self.write("src/base/a_test.cpp", LICENCE + "#include <gtest/gtest.h>\n")
        self.write("apps/gpufl.cpp", LICENCE + '#include "cli/main.hpp"\n')
        self.assert_passes("layers")

    def test_layers_refuse_an_upward_include(self):
        self.write("src/base/a.cpp", LICENCE + '#include "format/batch.hpp"\n')
        self.assert_fails("layers", 'src/base/a.cpp:2: base may not include "format/batch.hpp"')

    def test_layers_refuse_a_vendor_outside_the_registry(self):
        self.write("src/backend/other.cpp", LICENCE + '#include "backend/nvidia/nvml.hpp"\n')
        self.assert_fails("layers", "backend may not include")

    def test_layers_refuse_another_vendor(self):
        self.write("src/backend/synthetic/a.cpp", LICENCE + '#include "backend/nvidia/nvml.hpp"\n')
        self.assert_fails("layers", "backend/synthetic may not include")

    def test_layers_refuse_vendor_headers_elsewhere(self):
        self.write("src/capture/a.cpp", LICENCE + "#include <nvml.h>\n")
        self.assert_fails("layers", "capture may not include <nvml.h>")

    def test_layers_keep_public_headers_to_the_standard_library(self):
        self.write("include/gpufl/a.hpp", HEADER + "#include <unistd.h>\n")
        self.assert_fails("layers", "include may not include <unistd.h>")

    def test_layers_refuse_public_headers_that_reach_into_src(self):
        self.write("include/gpufl/a.hpp", HEADER + '#include "base/status.hpp"\n')
        self.assert_fails("layers", 'include may not include "base/status.hpp"')

    def test_layers_refuse_includes_without_a_room(self):
        self.write("src/base/a.cpp", LICENCE + '#include "status.hpp"\n')
        self.assert_fails("layers", "without its room")

    def test_layers_know_rooms_within_rooms(self):
        self.write("src/analysis/tables/a.cpp", LICENCE + '#include "analysis/math/stats.hpp"\n')
        self.assert_passes("layers")
        self.write("src/analysis/math/a.cpp", LICENCE + '#include "analysis/tables/tables.hpp"\n')
        self.assert_fails("layers", 'analysis/math may not include "analysis/tables/tables.hpp"')

    def test_layers_refuse_a_folder_that_no_stage_has(self):
        self.write("src/analysis/misc/a.cpp", LICENCE)
        self.assert_fails("layers", "the room 'analysis/misc' is not in the table")

    def test_layers_check_the_bindings(self):
        self.write("python/bindings/a.cpp", LICENCE + '#include "bindings/b.hpp"\n#include "net/http.hpp"\n')
        self.assert_fails("layers", 'python/bindings/a.cpp:3: bindings may not include "net/http.hpp"')

    def test_layers_refuse_circles_of_files(self):
        self.write("src/base/a.hpp", HEADER + '#include "base/b.hpp"\n')
        self.write("src/base/b.hpp", HEADER)
        self.write("src/base/b_test.cpp", LICENCE + '#include "base/a.hpp"\n')
        self.assert_passes("layers")
        self.write("src/base/b.cpp", LICENCE + '#include "base/c.hpp"\n')
        self.write("src/base/c.hpp", HEADER + '#include "base/a.hpp"\n')
        self.assert_fails("layers", "these include each other: base/a, base/b, base/c")

    def test_layers_refuse_unknown_rooms(self):
        self.write("src/misc/a.cpp", LICENCE)
        self.assert_fails("layers", "the room 'misc' is not in the table")

    def test_layers_refuse_logic_in_apps(self):
        self.write("apps/gpufl.cpp", LICENCE + "int x;\n" * 40)
        self.assert_fails("layers", "apps/ holds main() only")

    def test_sizes_refuse_files_over_the_limit(self):
        self.write("src/base/a.cpp", "\n" * 800)
        self.assert_passes("sizes")
        self.write("src/base/a.cpp", "\n" * 801)
        self.assert_fails("sizes", "801 lines, 800 at most")

    def test_sizes_refuse_long_headers(self):
        self.write("src/base/a.hpp", "\n" * 401)
        self.assert_fails("sizes", "401 lines, 400 at most")

    def test_sizes_warn_early(self):
        self.write("src/base/a.cpp", "\n" * 501)
        status, _, output = self.run_check("sizes")
        self.assertEqual(status, 0)
        self.assertIn("over 500 needs a reason", output)

    def test_text_passes_clean_files(self):
        self.write("src/base/a.hpp", HEADER)
        self.write("dev", "#!/usr/bin/env bash\n# SPDX-License-Identifier: Apache-2.0\n")
        self.assert_passes("text")

    def test_text_finds_each_fault(self):
        faults = {
            "a.cpp": ("int x;\n", "lacks the line"),
            "b.hpp": (LICENCE + "int x;\n", "#pragma once"),
            "c.cpp": (LICENCE + "int x; \n", "trailing space"),
            "d.cpp": (LICENCE + "\tint x;\n", "tab"),
            "e.cpp": (LICENCE + "int x;", "ends in one newline"),
            "f.cpp": (LICENCE + "std::random_device d;\n", "getrandom"),
            "g.cpp": (LICENCE + "/* old */\n", "comments are written with //"),
            "string_utils.cpp": (LICENCE, "say in the name"),
        }
        for name, (text, message) in faults.items():
            with self.subTest(name):
                self.write(f"src/base/{name}", text)
                self.assert_fails("text", message)
                (self.root / "src/base" / name).unlink()

    def test_text_finds_phrases_to_avoid_in_the_prose_of_pages(self):
        self.write("docs/guide/a.md", "It reports `told`.\n\n```text\ntold\n```\n\n    gpufl told\n")
        self.write("docs/design/a.md", "It runs for ever.\n")  # not among the pages that are checked
        self.assert_passes("text")
        self.write("docs/guide/a.md", "A step takes 1.19 of its time.\nIt runs for\never.\n")
        self.assert_fails("text", "docs/guide/a.md:1: avoid 'of its time': name the ratio")
        self.assert_fails("text", "docs/guide/a.md:2: avoid 'for ever': permanently")

    def test_text_finds_phrases_to_avoid_in_strings(self):
        comment = "// Nobody is told.\n"
        self.write("src/cli/a_test.cpp", LICENCE + 'const char* text = "that is no error";\n')
        self.write("src/cli/a.cpp", LICENCE + comment + 'const char* text = "where there "\n  "is no file";\n')
        python = '# SPDX-License-Identifier: Apache-2.0\n"""Shows `nobody`.\n\nAs in\n\n    told()\n"""\n'
        self.write("python/gpufl/a.py", python)
        self.assert_passes("text")
        self.write("src/cli/a.cpp", LICENCE + comment + 'const char* text = "that is no "\n  "error";\n')
        self.assert_fails("text", "src/cli/a.cpp:3: avoid 'is no error': say what happens")
        self.write("src/cli/a.cpp", LICENCE + 'const char* text = "a.txt is no "\n  "program";\n')
        self.assert_fails("text", "src/cli/a.cpp:2: avoid 'is no program': 'is not a")
        self.write("src/cli/a.cpp", LICENCE + comment)
        self.write("python/gpufl/a.py", python + 'TEXT = f"{__name__} is told"\n')
        self.assert_fails("text", "python/gpufl/a.py:8: avoid 'told': report")

    def test_text_finds_phrases_to_avoid_in_docstrings(self):
        licence = "# SPDX-License-Identifier: Apache-2.0\n"
        self.write("python/gpufl/a.py", licence + '\n\ndef f():\n    """One.\n\n    Nobody\n    is told.\n    """\n')
        self.assert_fails("text", "python/gpufl/a.py:7: avoid 'Nobody': say what happens")
        self.assert_fails("text", "python/gpufl/a.py:8: avoid 'told': report")


if __name__ == "__main__":
    unittest.main()
