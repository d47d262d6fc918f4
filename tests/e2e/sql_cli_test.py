# SPDX-License-Identifier: Apache-2.0
"""`gpufl sql`: what it answers is what exports have, and a query reaches nothing but the sessions.

Runs on the libduckdb that `./dev setup` installs; without it, all but a few tests are skipped.
"""

import csv
import io
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

from monitor_process import GPUFL, MonitorTest, environment, run, wait_until

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SESSIONS = REPOSITORY / "examples" / "sessions"
RECORDINGS = REPOSITORY / "tests" / "replay" / "recordings"
LIBRARY = next(REPOSITORY.glob(".deps/duckdb/node_modules/@duckdb/*/libduckdb.so"), None)
needs_library = unittest.skipUnless(LIBRARY, "there is no .deps/duckdb: ./dev setup installs it")
LONG = "select count(*) from range(1000000) a, range(1000000) b"
# DuckDB computes these while it plans, and looks neither at its limits nor at an interrupt.
LONG_PLAN = "select levenshtein(repeat('a', 1000000), repeat('b', 1000000))"
LARGE_PLAN = "select len(list_transform(range(1000000000), x -> x + 1))"


def sql(*arguments, **variables):
    return run(GPUFL, "sql", *arguments, **{"GPUFL_DUCKDB": str(LIBRARY or ""), **variables})


def wait_for_library(process):
    loaded = pathlib.Path(f"/proc/{process.pid}/maps")
    wait_until(lambda: "libduckdb" in loaded.read_text(), "the library to be loaded")


def table(text):
    return list(csv.reader(io.StringIO(text, newline="")))


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpufl-sql-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *arguments, stdout=subprocess.DEVNULL):
        process = subprocess.Popen(
            [GPUFL, "sql", "--from", SESSIONS, *arguments],
            stdout=stdout, stderr=subprocess.PIPE, env=environment(GPUFL_DUCKDB=str(LIBRARY)),
        )  # fmt: skip

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process


@needs_library
class Answers(InFolder):
    # Tables of kinds that exports show as queries do; of the others src/sql's tests tell.
    TABLES = (
        "kernels",
        "memcpy",
        "memset",
        "sync",
        "memory",
        "api",
        "scopes",
        "markers",
        "device_metrics",
        "host_metrics",
    )

    def exported(self, session):
        folder = self.folder / session.name
        ended = run(GPUFL, "export", session, "--to", "csv", "-o", folder)
        self.assertIn(ended.returncode, (0, 1), ended.stderr)
        return folder

    def test_rows_are_those_of_the_csv_export(self):
        seen = set()
        for session in (SESSIONS / "h200_gpt", SESSIONS / "h200_torch", RECORDINGS / "h200_copies"):
            folder = self.exported(session)
            for name in self.TABLES:
                if not (folder / f"{name}.csv").exists():
                    continue
                seen.add(name)
                with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
                    head, *expected = csv.reader(file)
                columns = ", ".join(f'"{column}"' for column in head)
                ended = sql("--from", session, "--format", "csv", f"select {columns} from {name}")
                self.assertEqual((ended.returncode, ended.stderr), (0, ""), name)
                their_head, *rows = table(ended.stdout)
                self.assertEqual(their_head, head)
                real = [i for i, column in enumerate(head) if column in ("occupancy", "payload")]
                for row in rows + expected:
                    for i in real:
                        row[i] = f"{float(row[i]):.9g}" if row[i] else ""
                self.assertEqual(sorted(rows), sorted(expected), f"{session.name} {name}")
        self.assertLess(4, len(seen))

    def test_the_summary_is_that_of_the_report(self):
        session = SESSIONS / "h200_gpt"
        report = json.loads(run(GPUFL, "report", session, "--format", "json").stdout)
        ended = sql(
            "--from",
            session,
            "--format",
            "json",
            "select sum(launches)::bigint as launches, sum(total_ns)::bigint as total_ns from kernel_summary",
        )
        (row,) = json.loads(ended.stdout)
        self.assertEqual(row["launches"], report["kernels"]["count"])
        self.assertEqual(row["total_ns"], report["kernels"]["total_ns"])

    def test_columns_of_one_name_are_told_apart_in_json(self):
        answer = sql("--from", SESSIONS, "--format", "json", "select 1 as a, 2 as a, 3 as b").stdout
        self.assertEqual(json.loads(answer), [{"a": 1, "a_1": 2, "b": 3}])

    def test_formats_say_the_same(self):
        query = (
            "select rank, name, sum(duration_ns)::bigint as total, count(*) > 5 as many from kernels "
            "group by all order by total desc, name limit 7"
        )
        rows = table(sql("--from", SESSIONS, "--format", "csv", query).stdout)
        objects = json.loads(sql("--from", SESSIONS, "--format", "json", query).stdout)
        self.assertEqual(
            [list(map(str, (o["name"], o["total"], str(o["many"]).lower()))) for o in objects],
            [row[1:] for row in rows[1:]],
        )
        self.assertEqual({o["rank"] for o in objects}, {None})
        text = sql("--from", SESSIONS, query).stdout
        self.assertEqual(len(text.splitlines()), 9)
        self.assertIn(rows[1][2], text)
        file = self.folder / "out.parquet"
        ended = sql("--from", SESSIONS, "--format", "parquet", "-o", file, query)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual((file.read_bytes()[:4], file.read_bytes()[-4:]), (b"PAR1", b"PAR1"))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["out.parquet"])
        ended = sql("--from", SESSIONS, "--format", "parquet", "-o", file, query)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("already exists", ended.stderr)
        self.assertEqual(sql("--from", SESSIONS, "--format", "parquet", "--force", "-o", file, query).returncode, 0)

    def test_a_query_may_come_from_standard_input(self):
        ended = subprocess.run(
            [GPUFL, "sql", "--from", SESSIONS, "-"],
            input="select 42 as answer\n;",
            text=True,
            capture_output=True,
            env=environment(GPUFL_DUCKDB=str(LIBRARY)),
        )
        self.assertEqual(ended.stdout.split(), ["answer", "------", "42"])

    def test_rows_are_limited_and_it_says_so(self):
        ended = sql("--from", SESSIONS, "--format", "csv", "--max-rows", "3", "from range(10)")
        self.assertEqual((ended.returncode, len(table(ended.stdout))), (0, 4))
        self.assertIn("only the first 3 rows", ended.stderr)
        self.assertEqual(sql("--from", SESSIONS, "--format", "csv", "from range(5000)").stderr, "")
        self.assertIn("only the first 1000 rows", sql("--from", SESSIONS, "from range(5000)").stderr)

    def test_the_schema_lists_what_is_there(self):
        listed = run(GPUFL, "sql", "--schema", HOME="/nowhere").stdout
        names = [line.split()[1] for line in listed.splitlines() if line.startswith(("table ", "view "))]
        self.assertIn("kernel_summary", names)
        shown = table(sql("--from", SESSIONS, "--format", "csv", "show tables").stdout)
        self.assertEqual(sorted(names), sorted(row[0] for row in shown[1:]))
        for name in names:
            ended = sql("--from", SESSIONS, "--format", "csv", f"from {name} limit 1")
            self.assertEqual(ended.returncode, 0, f"{name}: {ended.stderr}")


@needs_library
class Limits(InFolder):
    HOSTILE = (
        "attach '/tmp/gpufl-no.db'",
        "copy (select 1) to '/tmp/gpufl-no.csv'",
        "copy kernels from '/etc/passwd'",
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/proc/self/environ')",
        "from '/etc/passwd'",
        "select * from glob('/*')",
        "select getenv('HOME')",
        "install httpfs",
        "load '/tmp/x.so'",
        "pragma database_list",
        "set enable_external_access = true",
        "set allowed_paths = ['/etc/passwd']",
        "create table t (a int)",
        "select 1; drop view kernels",
        "select 1) to '/tmp/gpufl-no.csv' --",
        "explain analyze copy (select 1) to '/tmp/gpufl-no.csv'",
        "call enable_logging(storage := 'file', storage_path := '/tmp/gpufl-no')",
        "select * from enable_profiling(format := 'json', save_location := '/tmp/gpufl-no.json')",
        "explain analyze select * from enable_profiling(format := 'json', save_location := '/tmp/gpufl-no.json')",
        "explain (format json) select * from enable_profiling()",
        "select * from query('select 1')",
        "select * from json_execute_serialized_sql('{}')",
        "select json_serialize_plan('from enable_profiling()')",
        "select (select count(*) from System.main.Enable_Logging())",
        "describe select * from enable_logging()",
        "select * from enable_logging(storage := 'file', storage_path := '/tmp/gpufl-no')",
    )

    def test_a_query_reaches_nothing_else(self):
        for form in ("csv", "parquet"):
            for query in self.HOSTILE:
                output = self.folder / "out"
                ended = sql("--from", SESSIONS, "--format", form, "-o", output, query)
                self.assertEqual(ended.returncode, 2, f"{query}: {ended.stdout}")
                self.assertNotIn("root:", ended.stdout + ended.stderr)
                self.assertEqual(list(self.folder.iterdir()), [], query)
        self.assertEqual(list(pathlib.Path("/tmp").glob("gpufl-no*")), [])

    def test_what_is_echoed_cannot_steer_the_terminal(self):
        ended = sql("--from", SESSIONS, "select \x1b[31m'\x07")
        self.assertEqual(ended.returncode, 2)
        self.assertNotIn("\x1b", ended.stderr)
        ended = sql("--from", SESSIONS, "select chr(27) || '[2J' as \"a\x1b[2J\"")
        self.assertEqual(ended.returncode, 0)
        self.assertNotIn("\x1b", ended.stdout)

    def test_time_is_limited(self):
        ended = sql("--from", SESSIONS, "--timeout", "200ms", LONG)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--timeout", ended.stderr)

    def test_memory_is_limited(self):
        ended = sql("--from", SESSIONS, "--memory", "64MiB", "select count(distinct i) from range(100000000) t(i)")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("emory", ended.stderr)

    def test_limits_hold_while_a_query_is_planned(self):
        limits = {LONG_PLAN: ("--timeout", "200ms"), LARGE_PLAN: ("--memory", "64MiB")}
        for query, limit in limits.items():
            for explained in ("", "explain "):
                ended = sql("--from", SESSIONS, *limit, explained + query)
                self.assertEqual((ended.returncode, ended.stdout), (2, ""), query)
                self.assertIn(limit[0], ended.stderr)
                self.assertEqual(len(ended.stderr.splitlines()), 1)

    def test_a_query_that_is_cut_off_leaves_the_file_as_it_was(self):
        file = self.folder / "out.csv"
        file.write_text("good\n")
        for form in ("csv", "parquet"):
            query = ("--format", form, "--force", "-o", file)
            self.assertEqual(self.start(*query, "--timeout", "200ms", LONG).wait(60), 2)
            self.assertEqual(self.cut_off_with_a_partial_file(*query, "--memory", "64MiB", LARGE_PLAN), [])
            # A busy machine may need longer to begin planning than the query has in all.
            for timeout_ms in (200, 800, 3200, 12800):
                left = self.cut_off_with_a_partial_file(*query, "--timeout", f"{timeout_ms}ms", LONG_PLAN)
                if not left:
                    break
            self.assertEqual(left, [])
            self.assertEqual([path.name for path in self.folder.iterdir()], ["out.csv"])
            self.assertEqual(file.read_text(), "good\n")

    def cut_off_with_a_partial_file(self, *arguments):
        """As where the file system has no files without a name. What is left of it."""
        process = self.start(*arguments)
        partial = self.folder / f".out.csv.{process.pid}.partial"
        partial.write_text("half")
        self.assertEqual(process.wait(60), 2, arguments)
        left = [partial.name] if partial.exists() else []
        partial.unlink(missing_ok=True)
        return left

    def test_control_c_stops_it(self):
        for query in (LONG, LONG_PLAN):
            process = self.start("--timeout", "1h", query)
            wait_for_library(process)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(60), 128 + signal.SIGINT)

    def test_a_reader_that_has_seen_enough_stops_it(self):
        for query in (LONG, LONG_PLAN, "from range(1000000000000)"):
            for form in ("csv", "parquet") if query == LONG else ("csv",):
                process = self.start("--timeout", "1h", "--format", form, query, stdout=subprocess.PIPE)
                wait_for_library(process)
                if query.startswith("from"):
                    self.assertEqual(process.stdout.read(7), b"range\r\n")
                process.stdout.close()
                process.stdout = None
                self.assertEqual((process.wait(60), process.stderr.read()), (0, b""), query)

    def test_a_full_disk_stops_it(self):
        with open("/dev/full", "wb") as full:
            process = self.start("--timeout", "1h", "--format", "csv", "from range(1000000000000)", stdout=full)
            self.assertEqual(process.wait(60), 2)
            self.assertIn(b"No space left", process.stderr.read())


class Library(InFolder):
    def test_a_missing_library_is_told_with_what_to_do(self):
        ended = run(GPUFL, "sql", "--from", SESSIONS, "select 1", HOME=str(self.folder), LD_LIBRARY_PATH="")
        if ended.returncode == 0:
            self.skipTest("this system has a libduckdb.so")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("gpufl sql --install", ended.stderr)
        for named in ("/nowhere/libduckdb.so", "/etc/passwd"):
            ended = run(GPUFL, "sql", "--from", SESSIONS, "--library", named, "select 1")
            self.assertEqual(ended.returncode, 2)
            self.assertIn(named, ended.stderr)

    def npm(self, script):
        program = self.folder / "bin" / "npm"
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return run(
            GPUFL,
            "sql",
            "--install",
            HOME=str(self.folder),
            XDG_DATA_HOME=str(self.folder / "data"),
            PATH=f"{program.parent}:{os.environ['PATH']}",
        )

    def installed(self):
        return [path for path in (self.folder / "data").rglob("*") if path.is_file()]

    # In place of the last argument of `npm pack`.
    PACK = 'cd "$5" && mkdir package && %s && tar czf x.tgz package && rm -r package\n'

    def test_another_library_than_the_tested_one_is_not_installed(self):
        ended = self.npm(self.PACK % "echo no > package/libduckdb.so")
        self.assertEqual(ended.returncode, 2, ended.stdout)
        self.assertIn("SHA-256", ended.stderr)
        self.assertEqual(self.installed(), [])
        ended = self.npm(self.PACK % "ln -s /etc/passwd package/libduckdb.so")
        self.assertEqual((ended.returncode, self.installed()), (2, []))
        ended = self.npm("echo no network >&2; exit 1\n")
        self.assertEqual((ended.returncode, self.installed()), (2, []))
        self.assertIn("no network", ended.stderr)

    def test_without_npm_it_says_what_to_do(self):
        ended = run(GPUFL, "sql", "--install", HOME=str(self.folder), PATH=str(self.folder), XDG_DATA_HOME="")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("no npm", ended.stderr)
        for way in ("--library", "GPUFL_DUCKDB"):
            self.assertIn(way, ended.stderr)

    @needs_library
    def test_a_library_can_be_named(self):
        copy = self.folder / "libduckdb.so"
        copy.symlink_to(LIBRARY)
        query = ("--from", SESSIONS, "--format", "csv", "select 1 as a")
        for named, variables in ((("--library", copy), {}), ((), {"GPUFL_DUCKDB": str(copy)})):
            ended = run(GPUFL, "sql", *named, *query, HOME=str(self.folder), **variables)
            self.assertEqual((ended.returncode, ended.stdout), (0, "a\n1\n"), ended.stderr)

    @needs_library
    def test_the_tested_one_is(self):
        ended = self.npm(self.PACK % f"cp '{LIBRARY}' package/")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        (library,) = self.installed()
        self.assertEqual((library.name, stat.S_IMODE(library.stat().st_mode)), ("libduckdb.so", 0o644))
        self.assertIn(str(library), ended.stdout)
        self.assertIn("already there", self.npm("exit 1\n").stdout)
        ended = run(
            GPUFL,
            "sql",
            "--from",
            SESSIONS,
            "--format",
            "csv",
            "select 1 as a",
            XDG_DATA_HOME=str(self.folder / "data"),
        )
        self.assertEqual(ended.stdout, "a\n1\n")


@needs_library
class Sessions(InFolder):
    def test_there_is_none(self):
        for path in (self.folder, self.folder / "nothing"):
            ended = sql("--from", path, "select 1")
            self.assertEqual(ended.returncode, 2)
            self.assertIn("there is no", ended.stderr)

    def test_a_damaged_one_is_answered_as_far_as_it_goes(self):
        session = self.folder / "session"
        shutil.copytree(SESSIONS / "h200_gpt", session)
        query = ("--format", "csv", "select count(*) from kernels")
        whole = int(table(sql("--from", session, *query).stdout)[1][0])
        window = max(session.rglob("device.*.log.zst"), key=lambda path: path.stat().st_size)
        window.write_bytes(window.read_bytes()[: window.stat().st_size // 2])
        ended = sql("--from", session, *query)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("gpufl verify", ended.stderr)
        self.assertLess(int(table(ended.stdout)[1][0]), whole)
        # What lies outside of a range is not looked at.
        later = ("--format", "csv", "select count(*) from kernels(from_ns := 1000000000000)")
        ended = sql("--from", session, *later)
        self.assertEqual((ended.returncode, ended.stderr, table(ended.stdout)[1]), (0, "", ["0"]))
        window.unlink()
        ended = sql("--from", session, *query)
        self.assertEqual((ended.returncode, table(ended.stdout)[1]), (1, ["0"]))
        self.assertIn(f"{window.name}: it is missing", ended.stderr)
        self.assertEqual(sql("--from", session, *later).returncode, 0)
        # Beside one that cannot be read at all.
        broken = self.folder / "broken"
        broken.mkdir()
        (broken / "device.log").write_text("no\n")
        ended = sql("--from", self.folder, "--format", "csv", "select count(*) from sessions")
        self.assertEqual((ended.returncode, table(ended.stdout)[1]), (1, ["1"]))
        self.assertIn("broken", ended.stderr)

    def test_several_runs_are_one_question(self):
        ended = sql("--from", SESSIONS, "--format", "csv", "select count(*), count(distinct session) from sessions")
        (_, row) = table(ended.stdout)
        self.assertEqual(row[0], row[1])
        self.assertLessEqual(2, int(row[0]))
        ended = sql("--from", SESSIONS, "--format", "csv", "select count(distinct session) from kernels")
        self.assertEqual(table(ended.stdout)[1], [row[0]])


@needs_library
class LiveSession(MonitorTest):
    def test_one_that_is_being_recorded(self):
        process = self.start("--interval", "20ms")

        def count():
            if not self.output.is_dir() or not any(self.output.iterdir()):
                return 0
            ended = sql(
                "--from", self.output, "--format", "csv", "select count(*), max(live) from host_metrics, sessions"
            )
            if ended.returncode != 0:
                return 0
            rows, live = table(ended.stdout)[1]
            return int(rows) if live == "1" else 0

        first = wait_until(count, "rows of a live session")
        wait_until(lambda: count() > first, "more rows")
        self.assertEqual(self.stop(process), 0)
        self.assertEqual(
            table(sql("--from", self.output, "--format", "csv", "select live from sessions").stdout)[1], ["0"]
        )


if __name__ == "__main__":
    unittest.main()
