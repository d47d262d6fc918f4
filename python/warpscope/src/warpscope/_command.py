# SPDX-License-Identifier: Apache-2.0
"""The command `warpscope`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import NoReturn, Optional

from ._dump import load
from ._headers import device_header, include_dir
from ._result import TraceResult
from ._version import __version__
from ._wire import DIALECTS, MAX_LANES

GOOD, LOSSES, UNREADABLE, USAGE = 0, 1, 2, 64

_DESCRIPTION = """\
See inside one CUDA kernel: what each group of warps did, when, and what it waited for.

  nvcc -I"$(warpscope --include)" -arch=native kernel.cu     compile a kernel with marks
  warpscope decode dump.bin                                  how long things took in a capture"""

_DECODE_DESCRIPTION = """\
Decodes what a kernel recorded: a file that Profiler.save() or ws::write_dump() wrote, or the raw bytes
of the buffer. No GPU is needed.

By default, it prints how long things took. Names that the capture contains need not be given again."""

_EXIT_CODES = """\
exit codes: 0 decoded; 1 decoded, but a part of the recording is lost or in doubt; 2 the file
cannot be read, or an output cannot be written; 64 wrong usage"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        sys.exit(USAGE)


def _names(text: str) -> dict[int, str]:
    """wait,work or 0=wait,7=work"""
    names: dict[int, str] = {}
    for position, word in enumerate(text.split(",")):
        key, sign, name = word.partition("=")
        if not sign:
            names[position] = word
        elif key.isdigit():
            names[int(key)] = name
        else:
            raise argparse.ArgumentTypeError(f"{key!r} is not an id: write wait,work or 0=wait,7=work")
    return names


def _blocks(text: str) -> list[int]:
    """0,3 or 4-7, or both"""
    found: list[int] = []
    for word in text.split(","):
        first, sign, last = word.partition("-")
        if not first.isdigit() or (sign and not last.isdigit()):
            raise argparse.ArgumentTypeError(f"{word!r} is not a block: write 0,3 or 4-7")
        blocks = range(int(first), int(last or first) + 1)
        if not blocks or blocks[-1] >= MAX_LANES:
            raise argparse.ArgumentTypeError(
                f"{word!r} is out of range: blocks are 0 to {MAX_LANES - 1}; write 0,3 or 4-7"
            )
        found += blocks
    return found


def _time_ns(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a time in ns: write a whole number, such as 1500")
    return int(text)


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) < 1 << 32:
        raise argparse.ArgumentTypeError(f"{text!r} is not 1 to {(1 << 32) - 1}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = _Parser("warpscope", description=_DESCRIPTION, formatter_class=formatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--include", action="store_true", help="print the folder for -I and exit")
    what.add_argument("--cuh", action="store_true", help="print the path of warpscope.cuh and exit")
    parser.add_argument("--version", action="version", version=f"warpscope {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="decode", parser_class=_Parser)
    decode = verbs.add_parser(
        "decode",
        help="decode a recorded file",
        description=_DECODE_DESCRIPTION,
        epilog=_EXIT_CODES,
        formatter_class=formatter,
    )
    decode.add_argument("dump", help="the file")
    decode.add_argument("--summary", action="store_true", help="print how long things took")
    decode.add_argument("--json", action="store_true", help="print them as JSON")
    decode.add_argument("--chrome", metavar="OUT", help="write Chrome's JSON")
    decode.add_argument(
        "--perfetto", metavar="OUT", help="write Perfetto's own format (.perfetto-trace, .pftrace)"
    )
    decode.add_argument("--svg", metavar="OUT", help="draw a picture")
    decode.add_argument(
        "--blocks", type=_blocks, metavar="LIST", help="blocks in the picture: 0,3 or 4-7 (default: the first four)"
    )
    decode.add_argument("--from-ns", type=_time_ns, metavar="NS", help="start of the picture")
    decode.add_argument("--to-ns", type=_time_ns, metavar="NS", help="end of the picture")
    decode.add_argument("--events", type=_names, metavar="NAMES", help="names of events: wait,work or 0=wait,7=work")
    decode.add_argument("--groups", type=_names, metavar="NAMES", help="names of groups, in the same form")
    decode.add_argument("--dialect", choices=DIALECTS, default="v1", help="layout of the file")
    decode.add_argument("--num-blocks", type=_count, metavar="N", help="not the file's own")
    decode.add_argument("--num-groups", type=_count, metavar="N", help="not the file's own")
    decode.add_argument("--max-records", type=_count, metavar="N", help="the kernel's cap")
    return parser


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        if options.verb == "decode":
            _check_picture(parser, options)
            return _decode(options)
        if options.include or options.cuh:
            print(include_dir() if options.include else device_header())
        else:
            parser.print_help()
        sys.stdout.flush()
        return GOOD
    except BrokenPipeError:
        # The reader has gone; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except OSError as error:
        print(f"warpscope: {error}", file=sys.stderr)
        return UNREADABLE
    except MemoryError:
        print(
            f"warpscope: {options.dump}: there is not enough memory to decode it", file=sys.stderr
        )
        return UNREADABLE


def _check_picture(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    for option, value in (
        ("--blocks", options.blocks),
        ("--from-ns", options.from_ns),
        ("--to-ns", options.to_ns),
    ):
        if value is not None and not options.svg:
            parser.error(f"{option} is of the picture: it needs --svg OUT")
    if options.to_ns is not None and options.to_ns <= (options.from_ns or 0):
        parser.error("--to-ns has to be after --from-ns")


def _decode(options: argparse.Namespace) -> int:
    result = load(
        options.dump,
        event_names=options.events,
        group_names=options.groups,
        dialect=options.dialect,
        num_blocks=options.num_blocks or 0,
        num_groups=options.num_groups or 0,
        max_records=options.max_records or 0,
        warn=False,
    )
    if options.chrome:
        result.to_chrome_trace(options.chrome)
    if options.perfetto:
        result.to_perfetto(options.perfetto)
    if options.svg:
        try:
            result.to_svg(options.svg, options.blocks, options.from_ns, options.to_ns)
        except ValueError as error:
            print(f"warpscope: {options.dump}: {error}", file=sys.stderr)
            return USAGE
    if options.json:
        print(json.dumps(_report(result), indent=1))
    elif options.summary or not (options.chrome or options.perfetto or options.svg):
        result.print_durations()
    else:
        for problem in result.problems:
            print(f"note: {problem.text}", file=sys.stderr)
    sys.stdout.flush()
    return LOSSES if any(problem.is_loss for problem in result.problems) else GOOD


def _report(result: TraceResult) -> dict[str, object]:
    lanes = result.lanes_array()
    return {
        "kernel": result.names.kernel or None,
        "launch_id": result.layout.launch_id if result.layout is not None else None,
        "event_cost_ns": result.event_cost_ns,
        "origin_ns": result.origin_ns,
        "num_blocks": result.num_blocks,
        "num_groups": result.num_groups,
        "durations": [
            {"group": group, "event": event, **figures}
            for (group, event), figures in result.summary().items()
        ],
        "lanes": [dict(zip(lanes.dtype.names, row)) for row in lanes.tolist()],
        "problems": [
            {"kind": problem.kind, "count": problem.count, "text": problem.text}
            for problem in result.problems
        ],
    }
