# SPDX-License-Identifier: Apache-2.0
"""The command: what it prints, writes and ends with; and dumps."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import threading

import fake_kernel
import numpy as np
import pytest

import warpscope as ws
from warpscope import _dump
from warpscope._command import main


@pytest.fixture
def dump(tmp_path):
    prof = ws.Profiler(
        2,
        2,
        device="cpu",
        payloads=True,
        kernel="toy",
        event_names=["wait", "work"],
        launch_id=42,
        event_cost_ns=25.5,
    )
    fake_kernel.toy(prof.capture, 2)
    return prof.save(tmp_path / "dump.bin")


def run(*arguments):
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as end:
        return end.code


def test_where_the_headers_are(capsys):
    assert run("--include") == 0
    folder = pathlib.Path(capsys.readouterr().out.strip())
    assert (folder / "warpscope.cuh").is_file() and (folder / "warpscope_host.hpp").is_file()
    assert str(folder) == ws.include_dir()
    assert run("--cuh") == 0
    assert capsys.readouterr().out.strip() == str(folder / "warpscope.cuh") == ws.device_header()


def test_version_and_help(capsys):
    assert run("--version") == 0
    assert ws.__version__ in capsys.readouterr().out
    for arguments in ([], ["--help"], ["decode", "--help"]):
        assert run(*arguments) == 0
        assert "warpscope" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["decode"],
        ["encode", "x"],
        ["--include", "--cuh"],
        ["decode", "x", "--dialect", "v9"],
        ["decode", "x", "--events", "a=b"],
        ["decode", "x", "--num-groups", "0"],
        ["decode", "x", "--num-blocks", "99999999999"],
        ["decode", "x", "--blocks", "3-"],
        ["decode", "x", "--svg", "y", "--blocks", "5-2"],
        ["decode", "x", "--svg", "y", "--blocks", "0-9999999"],
        ["decode", "x", "--blocks", "3"],
        ["decode", "x", "--from-ns", "3"],
        ["decode", "x", "--to-ns", "3"],
        ["decode", "x", "--svg", "y", "--from-ns", "3", "--to-ns", "3"],
        ["decode", "x", "--from-ns", "-1"],
    ],
)
def test_wrong_usage(arguments, capsys):
    assert run(*arguments) == 64
    assert "usage:" in capsys.readouterr().err


def test_decode_prints_durations(dump, capsys):
    assert run("decode", dump) == 0
    out = capsys.readouterr().out
    assert "wait" in out and "group_1" in out
    assert run("decode", dump, "--groups", "tma,math", "--events", "1=compute", "--summary") == 0
    out = capsys.readouterr().out
    assert "math" in out and "compute" in out and "wait" in out and "group_1" not in out


def test_decode_as_json(dump, capsys):
    assert run("decode", dump, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["kernel"], report["launch_id"], report["problems"]) == ("toy", 42, [])
    assert report["event_cost_ns"] == 25.5
    assert len(report["lanes"]) == 4 and report["lanes"][0]["finalised"] is True
    assert {row["event"] for row in report["durations"]} == {"wait", "work"}


def test_decode_writes_traces(dump, tmp_path, capsys):
    chrome, perfetto, svg = (tmp_path / f"a.{ending}" for ending in ("json", "pftrace", "svg"))
    assert run("decode", dump, "--chrome", chrome, "--perfetto", perfetto) == 0
    assert run("decode", dump, "--svg", svg, "--blocks", "1,1-1", "--to-ns", "100000") == 0
    assert capsys.readouterr().out == ""
    assert json.loads(chrome.read_text())["traceEvents"]
    assert perfetto.stat().st_size > 100
    assert "block 1 " in svg.read_text() and "block 0" not in svg.read_text()


def test_losses_and_what_cannot_be_read(dump, tmp_path, capsys):
    cut = tmp_path / "cut.bin"
    cut.write_bytes(dump.read_bytes()[:403])
    assert run("decode", cut, "--chrome", tmp_path / "b.json") == 1
    assert "words are missing" in capsys.readouterr().err
    assert run("decode", tmp_path / "nothing.bin") == 2
    assert "nothing.bin" in capsys.readouterr().err
    assert run("decode", dump, "--perfetto", tmp_path / "no" / "folder.pftrace") == 2


def test_files_of_the_wrong_size(tmp_path, capsys):
    path = tmp_path / "odd.bin"
    path.write_bytes(b"abc")
    problems = {problem.kind: problem.count for problem in ws.load(path, warn=False).problems}
    assert problems == {"wrong_size": 2}
    with open(path, "wb") as file:
        file.truncate((4 << 30) + 8)  # sparse
    assert run("decode", path) == 2
    assert "larger than 4 GiB" in capsys.readouterr().err


def test_a_lack_of_memory_is_told(tmp_path):
    path = tmp_path / "zeros.bin"
    with open(path, "wb") as file:
        file.truncate(3 << 30)  # sparse
    program = (
        "import resource, sys\n"
        "from warpscope._command import main\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "sys.exit(main(['decode', sys.argv[1]]))\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == f"warpscope: {path}: there is not enough memory to decode it\n"


def test_a_buffer_of_another_dialect(tmp_path, capsys):
    tags = [5 << 24 | 1 << 12 | 3 << 2 | type for type in (0, 1)]
    words = [1 << 32 | 2, 0, 100 << 32 | tags[0], 0, 150 << 32 | tags[1], 0, 0]
    path = ws.save(words, tmp_path / "flashinfer.bin")
    assert run("decode", path, "--dialect", "flashinfer-2025-07", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["durations"][0]["max_ns"] == 50 and report["lanes"][0]["sm"] == 5


def test_dumps_end_so_that_readers_find_the_side_block(dump):
    words = np.fromfile(dump, dtype="<u8")
    assert int(words[-1]) == 0x3250435350524157
    side_words = int(words[-2])
    assert len(words) == 2 * (1 + 4 * 64) + side_words + 2
    assert ws.load(dump).spans == ws.decode(words).spans
    again = ws.save(words, dump.with_name("again.bin"))
    assert again.read_bytes() == dump.read_bytes()


def test_as_a_module_and_into_a_pipe_that_closes(dump):
    environment = {"PYTHONPATH": ":".join(sys.path)}
    module = [sys.executable, "-m", "warpscope", "decode", str(dump), "--json"]
    ran = subprocess.run(module, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0 and json.loads(ran.stdout)["kernel"] == "toy"
    piped = subprocess.Popen(
        module, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    piped.stdout.close()
    assert piped.stderr.read() == b"" and piped.wait() == 0
    piped.stderr.close()


def test_a_picture_of_what_is_not_there(dump, tmp_path, capsys):
    picture = tmp_path / "x.svg"
    assert run("decode", dump, "--svg", picture, "--blocks", "1,7") == 64
    assert "block 7 is not in the capture, which has 2 blocks, 0 to 1" in capsys.readouterr().err
    assert not picture.exists()
    assert run("decode", dump, "--svg", picture, "--from-ns", 10**12, "--to-ns", 10**13) == 64
    said = capsys.readouterr().err
    assert f"nothing was recorded from {10**12} ns on to {10**13} ns: these blocks go from" in said
    assert run("decode", dump, "--svg", picture, "--from-ns", 10**12) == 64
    capsys.readouterr()
    empty = tmp_path / "empty.bin"
    ws.Profiler(2, 2, device="cpu").save(empty)
    assert run("decode", empty, "--svg", picture) == 64
    assert "the capture has no record to draw: launch the kernel" in capsys.readouterr().err
    assert not picture.exists()


def test_a_device_is_not_read(capsys):
    assert run("decode", "/dev/zero") == 2
    assert "a device, not a file of words" in capsys.readouterr().err


def test_a_pipe_is_read_and_has_a_bound(dump, tmp_path, monkeypatch, capsys):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        with contextlib.suppress(BrokenPipeError):
            pipe.write_bytes(pathlib.Path(dump).read_bytes())

    for bound, code in ((1 << 20, 0), (100, 2)):
        monkeypatch.setattr(_dump, "MAX_DUMP_BYTES", bound)
        writer = threading.Thread(target=write)
        writer.start()
        assert run("decode", pipe) == code
        writer.join()
    assert "larger than 4 GiB" in capsys.readouterr().err


def test_names_do_not_reach_the_terminal_raw(dump, capsys):
    assert run("decode", dump, "--events", "a\x1b[31m\nb,\u202ework") == 0
    printed = capsys.readouterr().out
    assert "a\\x1b[31m\\nb" in printed and "\\u202ework" in printed
    assert "\x1b" not in printed and "\u202e" not in printed
