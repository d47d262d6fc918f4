# SPDX-License-Identifier: Apache-2.0
"""Scopes and sections around and inside of what torch.compile compiles, as the guide has it."""

import pytest
from torch_programs import run_labelled

pytest.importorskip("torch")

NETS = """
import warnings
import torch._dynamo as dynamo

warnings.simplefilter("ignore")  # PyTorch's own, of breaks

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.layer(x))

class Scoped(Net):
    def forward(self, x):
        with gpufl.Scope("inside"):
            return torch.relu(self.layer(x))

class Outer(Net):
    def forward(self, x):
        with gpufl.Scope("outer"):
            return super().forward(x)

class Decorated(Net):
    @gpufl.Scope("inside")
    def forward(self, x):
        return torch.relu(self.layer(x))

class Counting(Net):
    def forward(self, x):
        y = self.layer(x)
        gpufl.tick("calls")
        return torch.relu(y)

class Section(Net):
    def forward(self, x):
        with torch.profiler.record_function("attention"):
            return super().forward(x)

def run(net, fullgraph=False):
    compiled = torch.compile(net, backend="aot_eager", fullgraph=fullgraph)
    with torch.no_grad():
        return compiled(torch.ones(2, 4))

def graphs(net, **keywords):
    dynamo.reset()
    dynamo.utils.counters.clear()
    run(net, **keywords)
    return dynamo.utils.counters["stats"]["unique_graphs"]
"""


def test_a_scope_around_a_compiled_function():
    session, _, printed = run_labelled(
        NETS
        + """
with session(), gpufl.Scope("around"):
    print(graphs(Net(), fullgraph=True))
"""
    )
    assert printed.split() == ["1"]
    assert list(session.scope_events["name"]) == ["around"]


def test_scopes_inside_of_a_compiled_function():
    session, _, printed = run_labelled(
        NETS
        + """
with session():
    print(graphs(Scoped()), graphs(Outer()), graphs(Counting()))
    for net in Scoped(), Decorated(), Counting():
        dynamo.reset()
        try:
            run(net, fullgraph=True)
        except dynamo.exc.Unsupported:
            print("refused")
"""
    )
    assert printed.split() == ["0", "1", "2", "refused", "refused", "refused"]
    assert sorted(session.scope_events["name"]) == ["inside", "outer"]


def test_sections_inside_of_a_compiled_function_are_left_out():
    session, _, printed = run_labelled(
        NETS
        + """
import logging
logging.getLogger("torch._dynamo").setLevel(logging.ERROR)  # which says so
with session():
    gpufl.torch.attach()
    Section()(torch.ones(2, 4))
    print(graphs(Section(), fullgraph=True))
"""
    )
    assert printed.split() == ["1"]
    assert list(session.markers["name"]).count("attention") == 1
