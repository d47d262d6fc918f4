# SPDX-License-Identifier: Apache-2.0
"""training.py STEPS [nvtx]: steps of the small GPT, which know nothing of GPUFlight. With nvtx, each
is a range, and so is its forward pass. Prints how many there were."""

import sys

import gpt_model
import torch

training = gpt_model.Training()
with_ranges = sys.argv[2:] == ["nvtx"]
for step in range(int(sys.argv[1])):
    if with_ranges:
        with torch.cuda.nvtx.range(f"step {step}"):
            torch.cuda.nvtx.range_push("forward")
            loss = training.forward()
            torch.cuda.nvtx.range_pop()
            loss.backward()
        torch.cuda.nvtx.mark("done")
    else:
        training.step()
torch.cuda.synchronize()
print(int(sys.argv[1]))
