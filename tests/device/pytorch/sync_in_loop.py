# SPDX-License-Identifier: Apache-2.0
"""sync_in_loop.py: waits for the GPU inside a loop. Prints the line that waits."""

import inspect

import torch

STEPS = 20
wait_line = 0


def train_step(values):
    global wait_line
    for _ in range(4):
        values = values * 1.5
    wait_line = inspect.currentframe().f_lineno + 1
    torch.cuda.synchronize()
    return values


data = torch.ones(1024, device="cuda")
for _ in range(STEPS):
    train_step(data)
print(wait_line)
