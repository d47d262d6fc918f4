# SPDX-License-Identifier: Apache-2.0
"""captures.py: captures one CUDA graph after the other in PyTorch's own mode, "global", in which a call
of any thread that is not allowed breaks the capture; replays each, and checks its results. Says "ready"
after the first, and goes on until its stdin is closed."""

import select
import sys

import torch

MULTIPLICATIONS = 300
REPLAYS = 20

matrix = torch.eye(512, device="cuda") * 1.001
with torch.no_grad():
    truth = torch.linalg.matrix_power(matrix.double(), MULTIPLICATIONS + 1).float()
ready = False
while not (ready and select.select([sys.stdin], [], [], 0)[0]):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        product = matrix
        for _ in range(MULTIPLICATIONS):
            product = product @ matrix
    for _ in range(REPLAYS):
        graph.replay()
    torch.cuda.synchronize()
    assert torch.allclose(product, truth, rtol=1e-2), "the results are not those of the graph"
    if not ready:
        ready = True
        print("ready", flush=True)
