# SPDX-License-Identifier: Apache-2.0
import pathlib
import shutil

import pytest
from recordings import COMPLETE, GPT, MONITOR, TORCH

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import gpufl.viz as viz  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
from gpufl.analyzer import GpuFlightSession  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures(monkeypatch):
    monkeypatch.setattr(viz, "_session", None)
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (GPT, {"timeline", "kernel_table", "utilization"}),
        (MONITOR, {"utilization", "memory"}),
        (
            COMPLETE,
            {"timeline", "kernel_table", "utilization", "memory", "scope_flame", "stall_bars"},
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_only_pictures_with_data(path, names, tmp_path):
    figures = viz.figures(path)
    assert set(figures) == names
    for name, figure in figures.items():
        figure.savefig(tmp_path / f"{name}.png")
        assert figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)


def test_init_and_show():
    session = viz.init(GPT)
    assert set(viz.show()) == {"timeline", "kernel_table", "utilization"}
    assert viz.init(session) is session


@pytest.mark.parametrize("pattern", ["logs", "logs/*.log", "logs/*/*.log*", "logs/run/manifest.ndjson"])
def test_patterns(tmp_path, pattern):
    shutil.copytree(GPT, tmp_path / "logs" / "run")
    assert viz.init(pattern).header["app_name"] == "h200_gpt"


def test_patterns_choose_the_session(tmp_path):
    shutil.copytree(GPT, tmp_path / "logs" / "train")
    shutil.copytree(MONITOR, tmp_path / "logs" / "watch")
    newest = viz.init("logs/*.log").header["session_id"]
    for source in (GPT, MONITOR):
        wanted = GpuFlightSession(source).header["session_id"]
        folder = "train" if source == GPT else "watch"
        assert viz.init(f"logs/{folder[:2]}*").header["session_id"] == wanted
        assert viz.init(f"logs/{folder[:2]}*/*").header["session_id"] == wanted
        assert viz.init("logs/*", session_id=wanted).header["session_id"] == wanted
    assert viz.init("logs/*").header["session_id"] == newest
    with pytest.raises(FileNotFoundError, match="app name that begins with 'nobody'"):
        viz.init("logs/*", log_prefix="nobody")


def test_a_folder_may_be_called_like_a_pattern(tmp_path):
    shutil.copytree(MONITOR, tmp_path / "logs" / "run[1]")
    shutil.copytree(GPT, tmp_path / "logs" / "run1")
    assert viz.init("logs/run[1]").header == GpuFlightSession("logs/run[1]").header


def test_without_init():
    with pytest.raises(RuntimeError, match="viz.init"):
        viz.show()
    for pattern in ("nothing/*.log", "nothing*"):
        with pytest.raises(FileNotFoundError):
            viz.init(pattern)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_kernel_table_has_the_figures_of_the_report():
    (axes,) = viz.kernel_table(GPT, top_n=3).axes
    groups = GpuFlightSession(GPT).figures["kernels"]["by_name"][:3]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(labels) == len(groups)
    for label, group in zip(labels, groups):  # long ones are cut
        assert group["label"].startswith(label.split("...")[0]), label
    for text, group in zip(texts(axes), groups):
        assert text.startswith(f"{group['share']:.1%}")
        assert f"{group['duration_ns']['count']:,} ×" in text
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == pytest.approx([group["duration_ns"]["total"] / 1e6 for group in groups])


def test_kernels_that_differ_have_labels_that_differ():
    groups = GpuFlightSession(TORCH).figures["kernels"]["by_name"][:15]
    beginnings = {group["label"][:50] for group in groups}
    assert len(beginnings) < len(groups)  # else there is nothing to tell apart
    (axes,) = viz.kernel_table(TORCH, top_n=15).axes
    assert len({label.get_text() for label in axes.get_yticklabels()}) == len(groups)


def test_blocks_that_follow_each_other_are_told_apart():
    (axes,) = viz.timeline(TORCH).axes
    kernels, fills, steps = axes.collections[:3]
    assert list(steps.get_linewidths()) == [1, 1, 1, 1, 1]
    assert (steps.get_edgecolors() == 1).all()  # white
    assert not any([*kernels.get_linewidths(), *fills.get_linewidths()])  # thin ones would be nothing but edge


def test_siblings_have_colors_that_differ():
    scopes = GpuFlightSession(TORCH).figures["scopes"]
    bars = viz.scope_flame(TORCH).axes[0].patches
    assert {scope["name"] for scope in scopes} == {"step", "forward", "backward", "update"}
    assert len({bar.get_facecolor() for bar in bars}) == len(scopes) == 4


def test_scopes_of_one_name_have_one_color_and_many_siblings_have_some():
    names = ["step", "a", "b", "a", "a"]
    parents = [None, 0, 0, 2, 3]
    scopes = [{"name": name, "parent": parent} for name, parent in zip(names, parents)]
    assert len(set(viz._scope_colors(scopes).values())) == 3
    many = [{"name": f"step {i}", "parent": None} for i in range(100)]
    assert len(set(viz._scope_colors(many).values())) == len(viz.COLORS)


def test_timeline_has_a_row_for_each_stream_and_thread():
    (axes,) = viz.timeline(GPT).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert any("NVIDIA H200" in label and "stream 7" in label for label in labels)
    assert sum("thread" in label for label in labels) == 2


def test_scopes_lie_inside_of_those_around_them():
    scopes = GpuFlightSession(COMPLETE).figures["scopes"]
    bars = viz.scope_flame(COMPLETE).axes[0].patches
    for scope, bar in zip(scopes, bars):
        if scope["parent"] is not None:
            around = bars[scope["parent"]]
            assert around.get_x() <= bar.get_x()
            assert bar.get_x() + bar.get_width() <= around.get_x() + around.get_width() + 1e-9


def test_scopes_of_several_threads_share_the_width():
    scopes = [{"parent": None}, {"parent": 0}, {"parent": 0}]
    assert viz._nested_spans(scopes, [10, 10, 30]) == [(0, 10), (0, 2.5), (2.5, 7.5)]


def test_compare():
    (axes,) = viz.compare(GPT, COMPLETE).axes
    assert axes.get_yticklabels()[0].get_text() == "session time"
    a, b = (GpuFlightSession(p).figures["session"]["duration_ns"] for p in (GPT, COMPLETE))
    assert texts(axes)[0] == f"{100 * (b / a - 1):+.1f}%"


def test_compare_per_iteration():
    figure = viz.compare(GPT, TORCH)
    assert figure._suptitle.get_text().startswith("From A to B, per iteration")
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[0] == "time"
    assert any("\ncount, grid " in label for label in labels)


def test_compare_tells_everything_inside_of_the_picture(tmp_path):
    source = tmp_path / ("a long folder " * 12)
    shutil.copytree(GPT, source)
    figure = viz.compare(source, COMPLETE)
    (axes,) = figure.axes
    figure.canvas.draw()
    words = [figure._suptitle, axes._left_title, *axes.texts, *axes.get_yticklabels()]
    for text in words:
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.x1, text.get_text()
    assert axes._left_title.get_text().splitlines()[1].endswith(str(COMPLETE))
    # Kernels by the names of the report, and launches of the same kernel told apart.
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert "CatArrayBatchedCopy\ncount, grid 264x3x1, block 512x1x1" in labels
    assert len(set(labels)) == len(labels)
    # The longest bar does not make the others invisible.
    widths = [abs(bar.get_width()) for bar in axes.patches]
    assert max(widths) <= 2 * min(widths) + 5


def test_durations_have_the_unit_that_they_need():
    texts = [viz.duration_text(ns) for ns in (999, 1767, 999_999, 1_000_000, 2.5e9)]
    assert texts == ["999 ns", "1.767 µs", "1000 µs", "1 ms", "2.5 s"]


def test_pictures_leave_the_style_alone(tmp_path):
    before = dict(plt.rcParams)
    viz.figures(GPT)
    assert dict(plt.rcParams) == before
    assert pathlib.Path.cwd() == tmp_path
