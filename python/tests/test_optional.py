# SPDX-License-Identifier: Apache-2.0
"""Where packages that gpufl can do without are missing: what still works, and what is said."""

import re

import pytest
from conftest import run_python
from recordings import GPT

WITHOUT = """
import sys

class NotInstalled:
    def find_spec(name, *_):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NotInstalled)
from gpufl.analyzer import GpuFlightSession
import gpufl.viz as viz
session = GpuFlightSession({path!r})
"""


def run_without(packages, code):
    return run_python(WITHOUT.format(packages=packages, path=str(GPT)) + code)


@pytest.mark.parametrize(
    ("missing", "use", "named", "extra"),
    [
        ("numpy pandas", "session.kernels", "pandas", "analysis"),
        ("numpy pandas", "session.ledger", "pandas", "analysis"),
        ("pyarrow", "session.arrow('kernels')", "pyarrow", "arrow"),
        ("pyarrow", "session.arrow('ledger')", "pyarrow", "arrow"),
        ("matplotlib", "viz.show(session)", "matplotlib", "viz"),
        ("matplotlib", "viz.timeline(session)", "matplotlib", "viz"),
        ("matplotlib", "viz.compare(session, session)", "matplotlib", "viz"),
    ],
)
def test_what_is_missing_is_named(missing, use, named, extra):
    printed = run_without(
        missing.split(), f"try:\n    {use}\nexcept ImportError as error:\n    print(error)\n"
    )
    assert f"need the package {named}: pip install {named}, or install gpufl[{extra}]" in printed


def test_arrow_needs_numpy_too():
    pytest.importorskip("pyarrow")
    code = "try:\n    session.arrow('kernels')\nexcept ImportError as error:\n    print(error)\n"
    printed = run_without(["numpy", "pandas"], code)
    # Older versions of pyarrow are not there without numpy, either.
    assert re.search("need the package (numpy|pyarrow)", printed), printed


def test_what_needs_nothing():
    code = """
session.print_summary()
session.inspect_hotspots()
assert session.insights()
assert session.diff(session).figures
assert session.report("html")
"""
    run_without(["numpy", "pandas", "pyarrow", "matplotlib", "IPython", "torch"], code)


def test_arrow_needs_no_pandas():
    pytest.importorskip("pyarrow")
    code = """
for table in session.tables():
    session.arrow(table)
assert session.arrow("kernels").num_rows > 0 < session.arrow("ledger").num_rows
"""
    run_without(["pandas"], code)
