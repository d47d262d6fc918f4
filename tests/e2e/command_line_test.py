# SPDX-License-Identifier: Apache-2.0
"""The command line itself: help, version, wrong use; and docs/reference/cli.md says what --help says.

`./dev docs` writes the help texts into the page, by `command_line_test.py --update`.
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

from monitor_process import AGENT, DAEMON, GPUFL, run

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "reference" / "cli.md"
# A fenced block whose first line is the command that prints the rest.
BLOCK = re.compile(r"```text\n\$ (?P<command>[^\n]*--help)\n(?P<text>.*?)```\n", re.DOTALL)


def help_of(command):
    program, *arguments = command.split()
    ended = run({"gpufl": GPUFL, "gpufl-agent": AGENT, "gpufl-monitor": DAEMON}[program], *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip("\n") + "\n"


def commands():
    listed = help_of("gpufl --help").split("Commands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+)", listed, re.MULTILINE)


class CommandLine(unittest.TestCase):
    def test_help_is_a_word_too(self):
        self.assertEqual(run(GPUFL, "help").stdout, run(GPUFL, "--help").stdout)
        self.assertEqual(run(GPUFL, "help", "trace").stdout, run(GPUFL, "trace", "--help").stdout)

    def test_the_page_says_what_help_says(self):
        documented = {m["command"]: m["text"] for m in BLOCK.finditer(PAGE.read_text())}
        expected = ["gpufl --help", *(f"gpufl {c} --help" for c in commands()),
                    "gpufl-agent --help", "gpufl-monitor --help"]  # fmt: skip
        self.assertCountEqual(list(documented), expected)
        for command, text in documented.items():
            self.assertEqual(text, help_of(command), f"{command}; run ./dev docs")

    def test_the_readme_shows_a_real_report(self):
        readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
        shown = re.search(r"```\n(GPUFlight report.*?)\n```", readme, re.S)[1]
        report = run(GPUFL, "report", REPOSITORY / "examples" / "sessions" / "h200_torch").stdout
        self.assertEqual(shown.splitlines(), report.splitlines()[:15])

    def test_each_kernel_that_an_ambiguous_name_lists_can_be_pasted(self):
        session = REPOSITORY / "examples" / "sessions" / "h200_torch"
        ended = run(GPUFL, "report", "--kernel", "MulFunctor", session)
        self.assertEqual(ended.returncode, 2, ended.stdout)
        sentence, *listed = ended.stderr.splitlines()
        count = int(re.search(r"'MulFunctor' matches (\d+) kernels; name one:$", sentence)[1])
        self.assertEqual(len(listed), count)
        for line in listed:
            one = run(GPUFL, "report", *shlex.split(line), session)
            self.assertEqual(one.returncode, 0, one.stderr)
        kernels = re.search(r"launches of (\d+) kernels", run(GPUFL, "report", session).stdout)[1]
        absent = run(GPUFL, "report", "--kernel", "zzzz", session).stderr
        self.assertIn(f"and {int(kernels) - 5} more", absent)

    def test_without_arguments_it_prints_its_help(self):
        ended = run(GPUFL)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(ended.stdout, run(GPUFL, "--help").stdout)

    def test_version(self):
        header = PAGE.parents[2] / "include" / "gpufl" / "version.hpp"
        version = re.search(r'GPUFL_VERSION "(.*)"', header.read_text()).group(1)
        self.assertEqual(run(GPUFL, "--version").stdout, f"gpufl {version}\n")
        self.assertEqual(run(DAEMON, "--version").stdout, f"gpufl-monitor {version}\n")

    def assert_usage(self, *arguments, says):
        ended = run(GPUFL, *arguments)
        self.assertEqual((ended.returncode, ended.stdout), (64, ""), ended.stderr)
        self.assertIn(says, ended.stderr)

    def test_wrong_use_is_64_with_a_hint(self):
        self.assert_usage("moniter", says="unknown command 'moniter'; did you mean 'monitor'?")
        self.assert_usage("zzzzzz", says="unknown command 'zzzzzz'\nRun 'gpufl --help'")
        self.assert_usage("--verison", says="did you mean '--version'?")
        self.assert_usage("symbolize", says="Run 'gpufl symbolize --help'")
        self.assert_usage("trace", says="gpufl trace: name a program: gpufl trace -- PROGRAM\n")
        self.assert_usage("export", ".", says="give --to: gpufl export --to FORMAT PATH\n")
        self.assert_usage("gate", ".", says="give --baseline: gpufl gate --baseline PATH CANDIDATE")
        self.assert_usage("trace", "--budget", "2", "true", says="'2' has no unit; write 2%\n")
        self.assert_usage("monitor", "now", says="unknown argument 'now'")
        self.assert_usage("report", "--top", "-1", ".", says="--top")

    def test_a_wrong_value_suggests_the_nearest(self):
        self.assert_usage("trace", "-e", "Trce", "true", says="did you mean 'Trace'?")
        self.assert_usage("report", "--sort", "mediam", says="did you mean 'median'?")
        self.assert_usage("report", "--format", "htm", says="did you mean 'html'?")
        self.assert_usage("import", "--from", "warpscop", "x", says="did you mean 'warpscope'?")
        self.assert_usage("doctor", "trac", says="did you mean 'Trace'?")
        self.assert_usage("cat", ".", "kernl", says="did you mean 'kernel'?")
        self.assert_usage("report", "--sort", "zzzzzz", says="'zzzzzz' is not one of total, count")

    def test_an_absurd_value_is_refused_with_what_is_accepted(self):
        """Of every option of every command, by the sort of value that its help names."""
        absurd = {
            "DURATION": ["99999999999999999999", "99999d", "-1", "soon"],
            "SIZE": ["99999999999999999999T", "9999T", "-1G", "8", "large"],
            "SHARE": ["99999999999999999999%", "-5%", "5", "half"],
            "PERCENT": ["99999999999999999999", "-1", "0.01", "half"],
            "N": ["99999999999999999999", "4294967296", "-1", "1e9", "1.5", "many"],
            "[ADDRESS:PORT]": ["99999999999999999999", "65536", "127.0.0.1:65536", "-1"],
        }
        option = re.compile(r"^  +(?:-\w,)?(--[\w-]+)? ?(\S+)", re.MULTILINE)
        tried = set()
        for program, command in [(GPUFL, [c]) for c in commands()] + [(DAEMON, [])]:
            text = run(program, *command, "--help").stdout
            for name, sort in option.findall(text):
                self.assertNotIn(sort, ("INT", "UINT", "FLOAT", "TEXT"), f"{name} says nothing of its values")
                for value in absurd.get(sort, []) if name else []:
                    tried.add((sort, name))
                    ended = run(program, *command, f"{name}={value}")
                    said = ended.stderr
                    self.assertEqual((ended.returncode, ended.stdout), (64, ""), (name, value, said))
                    self.assertIn(f"{name}: ", said)
                    self.assertIn(value, said)
                    self.assertRegex(said, "; (write|use) |whole number from|such as", (name, value))
        self.assertEqual({sort for sort, _ in tried}, set(absurd))
        self.assertGreater(len(tried), 20)

    def test_report_and_verify_read_the_folder_that_trace_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            run(DAEMON, "--output", f"{folder}/gpufl-logs", "--duration", "50ms", "--backend", "none")
            for command, said in (("report", "GPUFlight report"), ("verify", "verdict     complete")):
                ended = subprocess.run([GPUFL, command], cwd=folder, capture_output=True, text=True)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertIn(said, ended.stdout)

    def test_output_that_cannot_be_written_is_2(self):
        with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w") as full:
            run(DAEMON, "--output", folder, "--duration", "50ms", "--backend", "none")
            for command in ("report", "verify", "log", "cat", "--help", ""):
                arguments = [folder] if command and command != "--help" else []
                with self.subTest(command):
                    ended = subprocess.run(
                        [GPUFL, *command.split(), *arguments], stdout=full, stderr=subprocess.PIPE
                    )
                    self.assertEqual(ended.returncode, 2)
                    self.assertIn(b"standard output cannot be written", ended.stderr)

    def test_what_a_log_says_does_not_steer_the_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            run(DAEMON, "--output", folder, "--duration", "50ms", "--backend", "none")
            (session,) = pathlib.Path(folder).iterdir()
            with (session / "manifest.ndjson").open("a") as manifest:
                manifest.write('{"type":"\\u001b[2J"}\n')
            (session / "scope.log").write_text('{"type":"\\u001b[2J","x":1}\n\x1b[31mred\n')
            evil = session.rename(session.with_name("\x1b]0;evil"))
            for command in ("verify", "log", "report"):
                ended = run(GPUFL, command, evil)
                self.assertNotIn("\x1b", ended.stdout + ended.stderr, command)
                self.assertIn("?]0;evil", ended.stdout)

    def test_every_command_refuses_an_unknown_option(self):
        for command in commands():
            with self.subTest(command):
                self.assert_usage(command, "--no-such-option", says="--no-such-option")


def block(command):
    return f"```text\n$ {command}\n{help_of(command)}```\n"


def update():
    text = BLOCK.sub(lambda m: block(m["command"]), PAGE.read_text())
    for command in commands():
        if f"\n## gpufl {command}\n" not in text:
            section = f"## gpufl {command}\n\n{block(f'gpufl {command} --help')}\n"
            text = text.replace("## gpufl-monitor\n", section + "## gpufl-monitor\n")
    PAGE.write_text(text)


if __name__ == "__main__":
    update() if sys.argv[1:] == ["--update"] else unittest.main()
