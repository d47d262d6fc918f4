# SPDX-License-Identifier: Apache-2.0
"""The documentation against the code: tables are complete, links lead somewhere, code compiles."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGURATION = "docs/reference/configuration.md"


def text(path):
    return (ROOT / path).read_text()


def tables(path):
    """Every table of a page: a list of rows, each a list of cells; the first row is the header."""
    found, rows = [], []
    for line in text(path).splitlines() + [""]:
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not all(re.fullmatch(r"-+", cell) for cell in cells):
                rows.append(cells)
        elif rows:
            found.append(rows)
            rows = []
    return found


def table(path, *header):
    matching = [rows for rows in tables(path) if rows[0] == list(header)]
    assert len(matching) == 1, f"{path}: {len(matching)} tables with the columns {header}"
    return matching[0][1:]


def quoted(cell):
    return re.findall(r"`([^`]*)`", cell)


def library_sources(pattern="*.cpp"):
    for folder in ("agent", "backend", "capture", "client", "sql"):
        for path in sorted((ROOT / "src" / folder).rglob(pattern)):
            if not path.name.endswith("_test.cpp"):
                yield path.read_text()
    for path in sorted((ROOT / "python" / "gpufl").rglob("*.py")):
        yield path.read_text()


class ConfigurationTest(unittest.TestCase):
    def setUp(self):
        rows = table(CONFIGURATION, "field", "type", "default", "values", "meaning")
        self.rows = {quoted(row[0])[0]: row for row in rows}

    def test_every_field_with_type_and_default(self):
        struct = re.search(r"struct InitOptions \{(.*?)\n\};", text("include/gpufl/options.hpp"), re.S)
        fields = re.findall(r"^  ([\w:]+) (\w+) = (.*?);", struct[1], re.M)
        self.assertGreater(len(fields), 20)
        self.assertEqual([name for _, name, _ in fields], list(self.rows))
        for kind, name, default in fields:
            with self.subTest(name):
                self.assertEqual(kind.removeprefix("std::"), self.rows[name][1])
                self.assertEqual([default.split("::")[-1]], quoted(self.rows[name][2]))

    def test_ranges_and_deprecation(self):
        source = text("src/client/option_table.cpp")
        entries = re.findall(r'^    \{"(\w+)", (.*)\},$', source, re.M)
        self.assertEqual([name for name, _ in entries], list(self.rows))
        for name, entry in entries:
            with self.subTest(name):
                values, meaning = self.rows[name][3:5]
                bounds = re.search(r"Field\{.*?, ([\d.]+), (\w+)(, true)?\}", entry)
                if bounds:
                    top = {"kHourMs": " to 3600000", "kNoLimit": " and more"}.get(
                        bounds[2], f" to {bounds[2]}"
                    )
                    zero = "0, or " if bounds[3] else ""
                    self.assertEqual(zero + bounds[1] + top, values)
                is_deprecated = re.search(r", k[A-Z]\w+$", entry) is not None
                self.assertEqual(is_deprecated, meaning.startswith("deprecated"))

    def test_engines(self):
        enum = re.search(
            r"enum class ProfilingEngine \{(.*?)\};", text("include/gpufl/options.hpp"), re.S
        )
        names = re.findall(r"^  (\w+),", enum[1], re.M)
        rows = table(CONFIGURATION, "engine", "adds", "in this version")
        self.assertEqual(names, [quoted(row[0])[0] for row in rows])
        here = {quoted(row[0])[0] for row in rows if row[2] == "yes"}
        engines = text("src/format/engines.hpp")
        constants = dict(re.findall(r'(k\w+) = "(\w+)"', engines))
        used = re.findall(r'Engine\{"?(\w+)"?, +\d+, true\}', engines)
        self.assertEqual(here, {constants.get(name, name) for name in used})

    def test_pages_that_name_an_engine_say_whether_it_is_here(self):
        rows = table(CONFIGURATION, "engine", "adds", "in this version")
        lacking = re.compile(r"\b(%s)\b" % "|".join(quoted(row[0])[0] for row in rows if row[2] != "yes"))
        pages = sorted((ROOT / "docs/reference/insights").glob("*.md"))
        naming = [page for page in pages if lacking.search(page.read_text())]
        self.assertGreater(len(pages), 10)
        for page in naming:
            with self.subTest(page.name):
                self.assertIn("which this version does not have yet", " ".join(page.read_text().split()))

    def test_warnings(self):
        source = text("src/client/options.cpp")
        names = set(re.findall(r'(?:warn\(|Refusal\{)"(\w+)"', source))
        self.assertGreater(len(names), 5)
        documented = {quoted(row[0])[0] for row in table(CONFIGURATION, "warning", "meaning")}
        self.assertEqual(names, documented)

    def test_variables_that_are_no_fields(self):
        documented = set()
        for row in table(CONFIGURATION, "variable", "meaning"):
            documented.update(quoted(row[0]))
        sources = library_sources("*.[ch]pp")
        used = {name for source in sources for name in re.findall(r'"(GPUFL_[A-Z_]*[A-Z])"', source)}
        fields = {"GPUFL_" + name.upper() for name in self.rows}
        self.assertEqual(used - fields, documented - fields)

    def test_capability_reasons(self):
        pattern = re.compile(
            r'(?:\{false,\s*|reason = |"off",\s*|"later",\s*|\w, base::Code::\w+,\s*)(?:[^",{}]*[?:] )?'
            r'"([a-z_]+)"(?: : "([a-z_]+)")?'
        )
        used = {word for source in library_sources() for pair in pattern.findall(source) for word in pair if word}
        self.assertGreater(len(used), 8)
        rows = table(CONFIGURATION, "feature", "reason", "meaning")
        documented = {word for row in rows for word in quoted(row[1])}
        # Names that only our own code could pass, and the absence that was asked for.
        self.assertEqual(used - {"unknown_engine", "unknown_backend", "none"}, documented)


class TraceStatesTest(unittest.TestCase):
    PAGE = "docs/reference/trace-states.md"
    # Where the Trace engine and its control tell of themselves.
    EVENT_SOURCES = ("src/backend/nvidia/cupti/cupti_tracer.cpp", "src/backend/nvidia/cupti/activity_decoder.cpp",
                     "src/backend/nvidia/cupti/range_readings.cpp", "src/capture/gpu_recording.cpp",
                     "src/capture/capture_gate.cpp")  # fmt: skip
    STATE_SOURCES = (
        "src/backend/nvidia/cupti/cupti_tracer.cpp",
        "src/capture/gpu_recording.cpp",
        "src/capture/gpu_recording.hpp",
    )

    def documented(self, *header):
        return [word for row in table(self.PAGE, *header) for word in quoted(row[0])]

    def test_reasons_are_those_of_the_configuration_page(self):
        rows = table(CONFIGURATION, "feature", "reason", "meaning")
        known = {word for row in rows if "profiling_engine" in quoted(row[0]) for word in quoted(row[1])}
        documented = self.documented("reason", "meaning", "what to do")
        self.assertGreater(len(known), 10)
        self.assertEqual(set(documented), known)
        self.assertEqual(len(set(documented)), len(documented))

    def test_events(self):
        pattern = re.compile(
            r'(?:\btell\(\s*|post_event\(event\(|set\("name", (?:[^"]*\? )?|(?:ended|refused) = [^"]*\? )'
            r'"([a-z_]+)"(?: : "([a-z_]+)")?'
        )
        used = {word for path in self.EVENT_SOURCES for pair in pattern.findall(text(path)) for word in pair if word}
        self.assertGreater(len(used), 10)
        used.add("recording_stuck")  # the session's own word
        self.assertEqual(set(self.documented("event", "meaning", "what to do")), used)

    def test_states(self):
        pattern = re.compile(
            r'(?:\.state = |return |kEnded = )(?:[^";]*\? )?"([a-z_]+)"(?: : "([a-z_]+)")?'
        )
        used = {word for path in self.STATE_SOURCES for pair in pattern.findall(text(path)) for word in pair if word}
        self.assertGreater(len(used), 5)
        states = set(self.documented("state", "meaning"))
        reasons = set(self.documented("reason", "meaning", "what to do"))
        self.assertEqual(states, used - (reasons - states))


class MetricsTest(unittest.TestCase):
    def test_values_come_from_where_the_page_says(self):
        vendors = {"on NVIDIA": "src/backend/nvidia/nvml", "source": "src/capture"}
        compared = 0
        for header, *rows in tables("docs/reference/metrics.md"):
            for column, folder in vendors.items():
                if column not in header:
                    continue
                code = "".join(path.read_text() for path in sorted((ROOT / folder).glob("*.cpp")))
                for row in rows:
                    for name in quoted(row[header.index(column)]):
                        self.assertIn(name, code, row)
                        compared += 1
        self.assertGreater(compared, 50)


class ArchitectureTest(unittest.TestCase):
    # Words of a cell that name no room.
    FILLERS = {"the standard library": "", "POSIX": "", "the stages before it": ""}

    def allowed_by(self, cell, stages):
        """The rooms that a cell of the table names; `analysis` is all its stages."""
        for filler, instead in self.FILLERS.items():
            cell = cell.replace(filler, instead)
        cell = cell.split(";")[0].split(":")[0]  # before headers of others; before the list of stages
        names = {name.strip().removeprefix("and ") for name in cell.split(",")} - {"", "and"}
        return names - {"analysis"} | (set(stages) if "analysis" in names else set())

    def test_include_table_is_the_one_that_is_checked(self):
        sys.path.insert(0, str(ROOT / "tools"))
        import check_layers

        rooms, stages = check_layers.ROOMS, check_layers.ANALYSIS
        documented = dict(table("ARCHITECTURE.md", "room", "may include"))
        rows = {room: room for room in rooms} | {"bindings": "python/bindings"}
        rows |= dict.fromkeys(stages, "analysis/STAGE")
        self.assertEqual(set(rows.values()), set(documented))
        self.assertIn(", ".join(stage.removeprefix("analysis/") for stage in stages), documented["analysis/STAGE"])
        for room, allowed in rooms.items():
            cell = documented[rows[room]]
            if cell == "everything but a vendor's folder":
                vendors = {room for room in rooms if room.startswith("backend/nvidia")}
                others = {"backend/markers", "backend/tracing", "bindings", "cli", "apps"}
                self.assertEqual(set(rooms) - vendors - others, allowed, room)
                continue
            before = set(stages[: stages.index(room)]) if room in stages else set()
            self.assertEqual(self.allowed_by(cell, stages) | before, allowed, room)

    def test_every_room_is_on_the_map(self):
        for page in ("ARCHITECTURE.md", "src/README.md"):
            for folder in (ROOT / "src").iterdir():
                if folder.is_dir():
                    self.assertRegex(text(page), rf"(src/{folder.name}/|\*\*{folder.name}\*\*)", page)

    def test_it_stays_short(self):
        self.assertLess(len(text("ARCHITECTURE.md").splitlines()), 220)
        self.assertLess(len(text("src/README.md").splitlines()), 50)


class PagesTest(unittest.TestCase):
    def pages(self):
        return [
            path
            for folder in ("", "docs", "format", "src")
            for path in (ROOT / folder).glob("**/*.md" if folder else "*.md")
        ]

    def test_links_lead_somewhere(self):
        for page in self.pages():
            for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
                if "://" not in target:
                    self.assertTrue((page.parent / target).exists(), f"{page}: {target}")

    def test_every_page_is_in_the_index(self):
        index = text("docs/README.md")
        for page in (ROOT / "docs").rglob("*.md"):
            name = page.relative_to(ROOT / "docs").as_posix()
            own_index = page.parent.with_suffix(".md")  # of a folder that has a page of its name
            if own_index.exists():
                self.assertIn(f"({page.parent.name}/{page.name})", own_index.read_text())
            elif name != "README.md":
                self.assertIn(f"({name})", index)

    def test_code_compiles(self):
        programs = []
        for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
            for number, code in enumerate(re.findall(r"```cpp\n(.*?)```", page.read_text(), re.S)):
                if "#include" not in code:
                    code = f"void snippet() {{\n{code}}}\n"
                space = f"page_{len(programs)}"
                body = re.sub(r"^#include.*\n", "", code, flags=re.M)
                programs.append(f"// {page.name}, block {number}\nnamespace {space} {{\n{body}}}\n")
        self.assertGreater(len(programs), 3)
        headers = ("gpufl/gpufl.hpp", "warpscope_host.hpp", "string", "vector")
        source = "".join(f"#include <{header}>\n" for header in headers) + "".join(programs)
        for options in ([], ["-DGPUFL_COMPILED_OUT"]):
            result = subprocess.run(
                [os.environ.get("CXX", "c++"), "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra",
                 "-Werror", "-Wno-unused-function", "-Wno-return-type", "-I", ROOT / "include", *options, "-x", "c++", "-"],
                input=source, capture_output=True, text=True,
            )  # fmt: skip
            self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
