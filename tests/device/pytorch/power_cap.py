# SPDX-License-Identifier: Apache-2.0
"""Products of large random matrices for some seconds: what takes a GPU to its power limit."""

import time

import torch

SIDE = 16384
SECONDS = 2.5

a, b = (torch.randn(SIDE, SIDE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
end = time.monotonic() + SECONDS
while time.monotonic() < end:
    for _ in range(10):
        product = a @ b
    torch.cuda.synchronize()
