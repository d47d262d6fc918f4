# SPDX-License-Identifier: Apache-2.0
"""Steps of a training loop, and the callbacks that record them."""

import copy
import pickle
import subprocess
import sys
import warnings

import gpufl
import gpufl.lightning
import gpufl.transformers
import pytest
from conftest import events, sessions
from gpufl.analyzer import GpuFlightSession
from gpufl.torch import Steps, steps


def scopes(logs):
    return [scope["name"] for scope in sorted(events(logs, "scope"), key=lambda row: row["start_ns"])]


OPTIONS = {"app_name": "test", "backend": gpufl.BackendKind.None_}


def test_steps_are_a_session_of_their_own(logs):
    seen = []
    for batch in steps(range(6), first=2, last=3, log_path=logs, **OPTIONS):
        seen.append(batch)
        with gpufl.Scope("body"):
            pass
    assert seen == [0, 1, 2, 3, 4, 5]
    assert scopes(logs) == ["step", "body", "load", "step", "body"]
    (session,) = sessions(logs)
    paths = set(GpuFlightSession(session).scope_events["path"])
    assert paths == {"step", "step > body", "load"}


def test_without_a_last_step_all_are_recorded(logs):
    assert list(steps("abc", log_path=logs, **OPTIONS)) == ["a", "b", "c"]
    assert scopes(logs) == ["step", "load", "step", "load", "step", "load"]


def test_a_loop_that_is_left_ends_its_recording(logs):
    for _ in steps(range(10), first=1, log_path=logs, **OPTIONS):
        if gpufl._core.is_recording():
            break
    assert not gpufl._core.is_recording()
    assert scopes(logs) == ["step"]
    with pytest.raises(ZeroDivisionError):
        for _ in steps([1], log_path=logs / "raised", **OPTIONS):
            raise ZeroDivisionError
    assert not gpufl._core.is_recording()


def test_fewer_steps_than_asked_for(logs):
    assert list(steps(range(2), first=5, last=9, log_path=logs, **OPTIONS)) == [0, 1]
    assert sessions(logs) == []


def test_steps_inside_of_a_session_do_not_end_it(recording):
    with pytest.warns(RuntimeWarning, match="the steps are not recorded"):
        assert list(steps(range(3), first=1, last=1)) == [0, 1, 2]
    assert gpufl._core.is_recording()
    gpufl.shutdown()
    assert scopes(recording) == ["step"]


def test_disabled_the_loop_runs(monkeypatch):
    monkeypatch.setenv("GPUFL_DISABLED", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(steps(range(3), first=1)) == [0, 1, 2]
        with Steps() as recorded:
            recorded.begin()
            assert not recorded.is_recording


def test_impossible_steps():
    with pytest.raises(ValueError, match="no steps from 5 to 2"):
        Steps(5, 2)
    with pytest.raises(ValueError, match="no steps from -1"):
        Steps(-1)


def callback(module, base):
    """GpuflCallback of a framework that need not be there."""

    def make(**keywords):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(module, "_Callback", base)
            return module.GpuflCallback(**keywords)

    return make


RECORDERS = {
    "Steps": Steps,
    "steps": lambda **keywords: steps(range(9), **keywords),
    "lightning": callback(gpufl.lightning, object),
    "transformers": callback(gpufl.transformers, object),
}


@pytest.mark.parametrize("make", RECORDERS.values(), ids=RECORDERS)
@pytest.mark.parametrize(
    ("keywords", "error", "text"),
    [
        ({"app_nam": "x"}, TypeError, "unexpected keyword argument 'app_nam'"),
        ({"enable_profiling": True}, TypeError, "use profiling_engine"),
        ({"system_sample_rate_ms": "fast"}, TypeError, "system_sample_rate_ms must be an int"),
        ({"options": 3}, TypeError, "options must be gpufl.InitOptions"),
        ({"last": 2}, ValueError, "no steps from 5 to 2"),
        ({"last": 7.5}, TypeError, "not 5 to 7.5"),
    ],
)
def test_what_is_wrong_is_said_before_the_training(make, keywords, error, text):
    with pytest.raises(error, match=text):
        make(first=5, **keywords)


@pytest.mark.parametrize("make", [RECORDERS["lightning"], RECORDERS["transformers"]])
def test_callbacks_can_be_copied(make, logs):
    original = make(first=0, last=0, labels=False, log_path=logs, **OPTIONS)
    for copied in copy.deepcopy(original), pickle.loads(pickle.dumps(original)):
        assert vars(copied) == vars(original)


def test_an_old_name_is_said_once_and_where_it_is(logs):
    with pytest.warns(DeprecationWarning, match="continuous_system_sampling now") as warned:
        loop = steps(range(3), 1, 1, log_path=logs, sampling_auto_start=False, **OPTIONS)
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(loop) == [0, 1, 2]
    assert scopes(logs) == ["step"]


def test_a_recording_that_cannot_start_is_told(tmp_path):
    (tmp_path / "file").touch()
    recorded = Steps(1, log_path=tmp_path / "file" / "logs", **OPTIONS)
    recorded.begin()
    recorded.end()
    with pytest.warns(RuntimeWarning, match="not recorded: .*file/logs/.*: Not a directory") as warned:
        recorded.begin()
    assert warned[0].filename == __file__
    assert not recorded.is_recording
    recorded.end()
    recorded.close()
    with pytest.warns(RuntimeWarning, match="not recorded"):
        assert list(steps("ab", log_path=tmp_path / "file", **OPTIONS)) == ["a", "b"]


def test_a_session_that_began_before_the_steps_is_its_owners(logs):
    recorded = Steps(0, 0)
    assert gpufl.init(log_path=logs, **OPTIONS)
    recorded.begin()
    recorded.end()
    assert gpufl._core.is_recording()
    gpufl.shutdown()
    assert scopes(logs) == ["step"]


def test_steps_without_a_loader(logs):
    with Steps(1, 1, log_path=logs, **OPTIONS) as recorded:
        for _ in range(3):
            recorded.begin()
            recorded.end()
    assert scopes(logs) == ["step"]


@pytest.mark.parametrize("module", ["lightning", "transformers"])
def test_callbacks_say_what_they_need(module):
    code = f"""
import sys
sys.modules["{module}"] = sys.modules["pytorch_lightning"] = None
import gpufl.{module}
try:
    gpufl.{module}.GpuflCallback()
except ImportError as error:
    print(error)
"""
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert f"pip install {module}" in printed


@pytest.mark.filterwarnings("default")
def test_lightning(logs):
    lightning = pytest.importorskip("lightning.pytorch")
    import torch

    from gpufl.lightning import GpuflCallback

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def training_step(self, batch, _):
            with gpufl.Scope("forward"):
                return self.layer(batch).sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[GpuflCallback(2, 4, log_path=logs, **OPTIONS)],
    )
    trainer.fit(Model(), torch.utils.data.DataLoader(torch.ones(3, 2), batch_size=1))
    assert not gpufl._core.is_recording()
    assert not gpufl.torch.is_attached()
    names = scopes(logs)
    assert names.count("step") == 3, names
    assert names.count("forward") == names.count("backward") == names.count("optimizer") == 3


@pytest.mark.filterwarnings("default")
def test_hugging_face(logs, tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    import torch

    from gpufl.transformers import GpuflCallback

    config = transformers.GPT2Config(
        vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=1, bos_token_id=0, eos_token_id=0
    )
    tokens = torch.arange(8)
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path / "out"),
        max_steps=5,
        per_device_train_batch_size=1,
        gradient_accumulation_steps=2,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    )
    trainer = transformers.Trainer(
        transformers.GPT2LMHeadModel(config),
        arguments,
        train_dataset=[{"input_ids": tokens, "labels": tokens}] * 20,
        callbacks=[GpuflCallback(1, 2, log_path=logs, **OPTIONS)],
    )
    trainer.train()
    assert not gpufl._core.is_recording()
    assert not gpufl.torch.is_attached()
    names = scopes(logs)
    assert names.count("step") == 2, names
    assert names.count("optimizer") == 2
