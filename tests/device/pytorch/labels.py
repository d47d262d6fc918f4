# SPDX-License-Identifier: Apache-2.0
"""labels.py FOLDER HOW: a labelled session of the small GPT. HOW: "eager"; "compiled", by
torch.compile; "graph", as a CUDA graph that is replayed; "threads", two trainings in two threads;
"loader", with batches from worker processes; "profiler", with PyTorch's own profiler inside."""

import sys
import threading

import gpt_model
import gpufl
import gpufl.torch
import torch

folder, how = sys.argv[1:]
STEPS = 5


def train(training, steps=STEPS):
    for _ in range(steps):
        with gpufl.Scope("step"):
            with gpufl.Scope("forward"):
                loss = training.forward()
            with gpufl.Scope("backward"):
                loss.backward()
            with gpufl.Scope("update"):
                training.optimizer.step()
            training.optimizer.zero_grad(set_to_none=True)
    torch.cuda.synchronize()


class Batches(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, i):
        return torch.full((gpt_model.SEQUENCES, gpt_model.TOKENS), i)


if how == "compiled":
    gpt_model.LAYERS = 2  # compiling takes longer than all else
training = gpt_model.Training()
train(training, 2)
if how == "compiled":
    training.model = torch.compile(training.model)
    train(training, 2)
if how == "graph":
    model, tokens = training.model.eval(), training.tokens
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), torch.no_grad():
        model(tokens)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        model(tokens)

assert gpufl.init(
    app_name="gpt_training", log_path=folder, profiling_engine=gpufl.ProfilingEngine.Trace
)
assert gpufl.torch.attach()
if how == "graph":
    for _ in range(STEPS):
        graph.replay()
    torch.cuda.synchronize()
elif how == "threads":
    others = [threading.Thread(target=train, args=(gpt_model.Training(),)) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
elif how == "loader":
    loader = torch.utils.data.DataLoader(
        Batches(), batch_size=None, num_workers=2, pin_memory=True, multiprocessing_context="fork"
    )
    for batch in loader:
        training.tokens = batch.to("cuda", non_blocking=True) % gpt_model.VOCABULARY
        train(training, 1)
elif how == "profiler":
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        train(training)
    assert any(event.key == "aten::linear" for event in profile.key_averages())
else:
    train(training)
gpufl.torch.detach()
gpufl.shutdown()
