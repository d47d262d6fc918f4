# SPDX-License-Identifier: Apache-2.0
"""Perfetto's own published definitions (its PyPI package), for the tests that read traces with them.

To be imported first: where the package is missing the program starts again in the project's own
environment, which has the wheels of tools/requirements/export.txt, or ends as skipped.
"""

import os
import sys
from pathlib import Path

VENV_PYTHON = Path(__file__).resolve().parents[2] / ".deps/venv/bin/python"

try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2  # noqa: F401
except ImportError:
    if VENV_PYTHON.exists() and Path(sys.prefix) != VENV_PYTHON.parents[1]:
        os.execv(VENV_PYTHON, [str(VENV_PYTHON), *sys.argv])
    print("skipped: no perfetto package; './dev setup' installs it")
    sys.exit(77)
