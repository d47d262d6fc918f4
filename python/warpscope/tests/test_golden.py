# SPDX-License-Identifier: Apache-2.0
"""The golden buffers: the same files, and the same answers, as those of the C++ decoder."""

import golden
import pytest

pytestmark = pytest.mark.skipif(not golden.FOLDER.is_dir(), reason="not in the repository")


@pytest.mark.parametrize("name", golden.names())
def test_golden(name):
    expected = golden.expected(name)
    assert golden.described(golden.decode(name), expected) == expected


def test_there_are_golden_buffers():
    assert len(golden.names()) > 10
