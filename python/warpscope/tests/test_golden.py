# SPDX-License-Identifier: Apache-2.0
"""The golden buffers: the same files, and the same answers, as those of the C++ decoder."""

import json

import golden
import pytest

from warpscope._side import Names

pytestmark = pytest.mark.skipif(not golden.FOLDER.is_dir(), reason="not in the repository")


@pytest.mark.parametrize("name", golden.names())
def test_golden(name):
    expected = golden.expected(name)
    assert golden.described(golden.decode(name), expected) == expected


@pytest.mark.parametrize(
    "case", golden.names_cases(), ids=lambda case: case["why"].replace(" ", "_")
)
def test_names(case):
    content = bytes.fromhex(case["hex"]) if "hex" in case else case["text"].encode()
    if case["names"] is None:
        with pytest.raises(ValueError):
            Names.from_json(content.decode())
    else:
        assert json.loads(Names.from_json(content.decode()).to_json() or "{}") == case["names"]


def test_ids_that_no_record_has_are_not_written():
    names = Names("", {1024: "b", 1: "a"}, {1 << 20: "b"}, [1024, 3], [(0, 1024), (1, 2)])
    written = {"events": {"1": "a"}, "groups": {}, "waits": [3], "flows": [[1, 2]]}
    assert json.loads(names.to_json()) == written


def test_there_are_golden_buffers():
    assert len(golden.names()) > 10
