# SPDX-License-Identifier: Apache-2.0
"""libgpufl_inject itself: what it shows and needs, hosts that it is loaded into, and how copies of the
library in one process find each other."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from monitor_process import GPUFL, PROGRAMS, environment, run
from traced_program import IS_SANITIZED, LIBRARY, rows, skip_forks_if_sanitized

NEWEST_GLIBC = (2, 34)
ALLOWED = re.compile(r"lib(c|m|dl|pthread|rt|gcc_s)\.so\.\d+|ld-linux-x86-64\.so\.2")


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Injected(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpufl-inject-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.variables = {
            "GPUFL_LOG_PATH": str(self.folder / "logs"),
            "GPUFL_BACKEND": "none",
            "XDG_RUNTIME_DIR": str(self.folder),
        }

    def sessions(self):
        return sorted(p.parent for p in self.folder.rglob("manifest.ndjson"))

    def session(self):
        found = self.sessions()
        self.assertEqual(len(found), 1, found)
        self.assertEqual(run(GPUFL, "verify", found[0]).returncode, 0)
        return found[0]


class Shape(Injected):
    def test_it_shows_nothing_but_what_nvidia_calls(self):
        shown = tool("nm", "-D", "--defined-only", LIBRARY).split()[2::3]
        self.assertEqual(sorted(shown), ["InitializeInjection", "InitializeInjectionNvtx2"])

    @unittest.skipIf(IS_SANITIZED, "a sanitizer brings its own")
    def test_it_needs_nothing_but_an_old_glibc(self):
        needed = re.findall(r"NEEDED +(\S+)", tool("objdump", "-p", LIBRARY))
        self.assertTrue(needed)
        self.assertEqual([n for n in needed if not ALLOWED.fullmatch(n)], [])
        versions = set(re.findall(r"GLIBC_([\d.]+)", tool("objdump", "-T", LIBRARY)))
        newer = [v for v in versions if tuple(map(int, v.split("."))) > NEWEST_GLIBC]
        self.assertEqual(newer, [])


@unittest.skipIf(IS_SANITIZED, "a sanitized library needs a sanitized host")
class Hosts(Injected):
    CALL = "import ctypes; ctypes.CDLL({!r}).InitializeInjection()"

    def python(self, script, **variables):
        return subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            env=environment(**(self.variables | variables)),
        )

    def test_a_host_without_a_cxx_runtime(self):
        ended = self.python(
            self.CALL.format(str(LIBRARY)) + "; print('libstdc++' in open('/proc/self/maps').read())"
        )
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(ended.stdout, "False\n")
        self.session()

    def test_a_host_with_a_cxx_runtime_of_its_own(self):
        runtime = tool("g++", "-print-file-name=libstdc++.so.6").strip()
        ended = self.python(self.CALL.format(str(LIBRARY)), LD_PRELOAD=runtime)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""))
        self.session()

    def test_a_program_in_c(self):
        source, program = self.folder / "host.c", self.folder / "host"
        source.write_text(
            "#include <dlfcn.h>\n"
            "int main(int argc, char** argv) {\n"
            "  void* library = dlopen(argv[argc - 1], RTLD_NOW);\n"
            "  if (!library) return 1;\n"
            '  return ((int (*)(void))dlsym(library, "InitializeInjection"))() == 1 ? 0 : 2;\n'
            "}\n"
        )
        tool("cc", "-o", program, source, "-ldl")
        ended = run(program, LIBRARY, **self.variables)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""))
        self.session()

    def test_its_defaults(self):
        self.variables.pop("GPUFL_LOG_PATH")
        script = f"import os; os.chdir({str(self.folder)!r}); " + self.CALL.format(str(LIBRARY))
        self.assertEqual(self.python(script).returncode, 0)
        session = self.session()
        self.assertEqual(session.parent, self.folder / "gpufl-logs")
        told = run(GPUFL, "report", session).stdout
        self.assertIn(f"GPUFlight report: {pathlib.Path(sys.executable).name}", told)
        self.assertIn("profiling engine: asked for Trace, got Monitor: no GPU vendor's backend", told)

    def test_what_is_disabled_stays_so(self):
        ended = self.python(self.CALL.format(str(LIBRARY)), GPUFL_DISABLED="1")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(self.sessions(), [])


class Copies(Injected):
    """Each with the library linked as a shared one, and inside the program."""

    def run_steps(self, program, *steps, **variables):
        ended = run(PROGRAMS / program, self.folder, *steps, **(self.variables | variables))
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout

    def each(self):
        for program in ("joining_shared", "joining_static"):
            yield program
            for session in self.sessions():
                shutil.rmtree(session)

    def scopes(self, session):
        return sorted(row["name"] for row in rows(session, "scope"))

    def counters(self, session):
        return {row["name"]: row["value"] for row in rows(session, "counter")}

    def test_a_program_joins_the_injected_session(self):
        for program in self.each():
            out = self.run_steps(
                program, "early:kept", "inject", "init", "work:joined", "late", "system", "shutdown",
                "work:after", "init", "work:again",
            )  # fmt: skip
            self.assertEqual(out, "init true\ninit true\n")
            session = self.session()
            self.assertTrue(str(session).startswith(self.variables["GPUFL_LOG_PATH"]))
            self.assertEqual(self.scopes(session), ["again", "again", "joined", "joined"])
            counters = self.counters(session)
            self.assertEqual((counters["joined"], counters["kept"]), (5, 3))
            self.assertNotIn("after", counters)
            names = [event["name"] for event in rows(session, "event")]
            self.assertIn("system_start", names)
            self.assertGreater(len(rows(session, "host_metric")), 0)

    def test_an_injected_copy_joins_the_programs_session(self):
        for program in self.each():
            out = self.run_steps(program, "init", "work:before", "inject", "work:then", "shutdown")
            self.assertEqual(out, "init true\n")
            session = self.session()
            self.assertEqual(session.parent, self.folder / "own")
            self.assertEqual(self.scopes(session), ["before", "before", "then", "then"])

    def test_the_report_of_a_member_is_the_sessions(self):
        for program in self.each():
            out = self.run_steps(program, "inject", "init", "work:joined", "report")
            self.assertIn("joined", out)
            self.assertIn("still recording", out)

    def test_only_the_owner_of_a_session_pauses_it(self):
        for program in self.each():
            out = self.run_steps(program, "inject", "init", "pause")
            self.assertEqual(out, "init true\npause false\n")
        self.assertEqual(self.run_steps(program, "init", "pause"), "init true\npause true\n")

    def test_who_comes_first_has_it(self):
        for program in self.each():
            self.run_steps(program, "race", "work:raced", "shutdown")
            (session,) = {s for s in self.sessions() if "raced" in self.scopes(s)}
            self.assertEqual(len(self.sessions()), 1, session)

    @skip_forks_if_sanitized
    def test_a_child_of_fork_may_begin_its_own(self):
        for program in self.each():
            self.run_steps(
                program, "inject", "init", "work:parent", "fork", "init", "work:child"
            )
            found = {tuple(self.scopes(s)) for s in self.sessions()}
            self.assertEqual(found, {("parent", "parent"), ("child", "child")})


if __name__ == "__main__":
    unittest.main()
