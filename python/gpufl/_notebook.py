# SPDX-License-Identifier: Apache-2.0
"""`%load_ext gpufl`, and then `%%gpufl` at the top of a cell: the report of that cell."""

from __future__ import annotations

import sys
import tempfile
from typing import Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from . import _core, torch
from ._capture import session, why_not_started
from ._core import ProfilingEngine
from .report import page_frame
from .torch._steps import wait_for_gpu


class CellReport:
    """The report of a cell: a page where the front end shows those, else text."""

    def __init__(self, text: str, page: str | None) -> None:
        self.text = text
        self.page = page

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str | None:
        return None if self.page is None else page_frame(self.page)


ENGINES = tuple(ProfilingEngine.__members__)
# As reports take them.
ORDERS = ("total", "count", "mean", "median", "p99", "max", "name")


@magics_class
class GpuflMagics(Magics):
    @magic_arguments()
    @argument(
        "--engine",
        choices=ENGINES,
        default="Trace",
        help=f"what to record (default: Trace): {', '.join(ENGINES)}",
    )
    @argument("--top", type=int, default=10, help="rows of each table (default: 10)")
    @argument("--sort", choices=ORDERS, default="total", help="order of the kernels")
    @argument("--text", action="store_true", help="print text, even where a page could be shown")
    @argument("--stacks", action="store_true", help="record CPU stacks, for lines without PyTorch")
    @argument("--no-labels", action="store_true", help="do not record PyTorch labels")
    @argument("--output", help="keep the session in this folder; by default it is deleted")
    @argument("--name", help="variable for the session, as a GpuFlightSession")
    @cell_magic
    def gpufl(self, line: str, cell: str) -> None:
        """Run the cell, record what the GPU does meanwhile, and show the report."""
        arguments = parse_argstring(self.gpufl, line)
        if arguments.top < 0:
            raise UsageError(f"--top {arguments.top}: how many rows to show, or 0 for all of them")
        if arguments.name and not arguments.name.isidentifier():
            raise UsageError(f"--name {arguments.name}: this is not a valid variable name")
        if _core.is_recording():
            raise UsageError("a session is already running: end it with gpufl.shutdown()")
        with tempfile.TemporaryDirectory(prefix="gpufl-cell-") as folder:
            options = {
                "app_name": "cell",
                "log_path": arguments.output or folder,
                "profiling_engine": ProfilingEngine[arguments.engine],
                "enable_stack_trace": arguments.stacks,
            }
            recorded, ran = self._record(cell, options, not arguments.no_labels)
            if recorded is not None:
                self._show(recorded, arguments)
        error = ran.error_before_exec or ran.error_in_exec
        if error is not None:
            self._raise_shown(error)

    def _record(self, cell: str, options: dict[str, Any], labels: bool) -> tuple[Any, Any]:
        """The folder of the session (None: gpufl is disabled), and how the cell ran."""
        attached = False
        try:
            with session(**options) as recording:
                reason = None if recording.active else why_not_started()
                if reason is not None:
                    raise UsageError(f"the cell was not run because it cannot be recorded: {reason}")
                if labels and "torch" in sys.modules and not torch.is_attached():
                    attached = torch.attach()
                ran = self.shell.run_cell(cell)
                wait_for_gpu()
        finally:
            if attached:
                torch.detach()
        return recording.log_dir, ran

    def _show(self, folder: Any, arguments: Any) -> None:
        from .analyzer import GpuFlightSession

        recorded = GpuFlightSession(folder)
        text = recorded.report("text", arguments.top, arguments.sort)
        page = None if arguments.text else recorded.report("html", arguments.top, arguments.sort)
        if arguments.name:
            self.shell.user_ns[arguments.name] = recorded
        display(CellReport(text, page))

    def _raise_shown(self, error: BaseException) -> NoReturn:
        """So that the cell fails as it does without the magic, and its error is shown but once."""
        shell = self.shell
        before = vars(shell).get("showtraceback")
        show = shell.showtraceback

        def show_others(*arguments: Any, **keywords: Any) -> None:
            if sys.exc_info()[1] is not error:
                show(*arguments, **keywords)

        def restore(*_: Any) -> None:
            shell.events.unregister("post_run_cell", restore)
            if before is None:
                vars(shell).pop("showtraceback", None)
            else:
                shell.showtraceback = before

        shell.showtraceback = show_others
        shell.events.register("post_run_cell", restore)
        raise error


def load(shell: Any) -> None:
    shell.register_magics(GpuflMagics)
