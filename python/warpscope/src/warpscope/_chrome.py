# SPDX-License-Identifier: Apache-2.0
"""Chrome's trace event format: JSON that chrome://tracing and ui.perfetto.dev open."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Union

from ._drawing import block_name, details, lines, sms, span_name

if TYPE_CHECKING:
    from ._result import TraceResult


def write(result: TraceResult, path: Union[str, os.PathLike[str]]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[')
        separator = "\n"
        for event in _events(result):
            file.write(separator + event)
            separator = ",\n"
        file.write("\n]}\n")


def _microseconds(ns: int) -> str:
    # Not as a float, of which a long kernel would lose the last digits.
    return f"{'-' if ns < 0 else ''}{abs(ns) // 1000}.{abs(ns) % 1000:03d}"


def _events(result: TraceResult) -> Iterator[str]:
    known_blocks: set[int] = set()
    sm_of_block = sms(result)
    # Overlapping spans of a group need threads of their own, or all but one are hidden.
    for line in lines(result):
        where = f'"pid":{line.block},"tid":{line.group + line.number * result.num_groups}'
        if line.block not in known_blocks:
            known_blocks.add(line.block)
            name = block_name(line.block, sm_of_block.get(line.block))
            yield _metadata("process_name", f'"pid":{line.block},"tid":0', name)
        number = f" ({line.number + 1})" if line.number else ""
        yield _metadata("thread_name", where, result.group_name(line.group) + number)
        sort_key = {"sort_index": line.group * 1000 + line.number}
        yield f'{{"ph":"M","name":"thread_sort_index",{where},"args":{json.dumps(sort_key)}}}'
        for span in line.spans:
            times = f'"ts":{_microseconds(span.begin_ns)},"dur":{_microseconds(span.dur_ns)}'
            name = json.dumps(span_name(result, span))
            yield f'{{"ph":"X","name":{name},{where},{times}{_arguments(span)}}}'
        for instant in line.instants:
            name = json.dumps(result.event_name(instant.event_id))
            time = f'"ts":{_microseconds(instant.ts_ns)},"s":"t"'
            yield f'{{"ph":"i","name":{name},{where},{time}{_arguments(instant)}}}'


def _metadata(kind: str, where: str, name: str) -> str:
    return f'{{"ph":"M","name":"{kind}",{where},"args":{{"name":{json.dumps(name)}}}}}'


def _arguments(row: Any) -> str:
    found = details(row)
    return f',"args":{json.dumps(found)}' if found else ""
