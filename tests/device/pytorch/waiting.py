# SPDX-License-Identifier: Apache-2.0
"""waiting.py: says "ready", and computes until its stdin is closed."""

import select
import sys

import torch

values = torch.ones(1024, device="cuda")
torch.cuda.synchronize()
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.001)[0]:
    values = values * 1.0
    torch.cuda.synchronize()
