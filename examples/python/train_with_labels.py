# SPDX-License-Identifier: Apache-2.0
"""Five steps of a small training, recorded with the labels of PyTorch: GPU time by module and line.

python train_with_labels.py [FOLDER]
"""

import sys

import gpufl
import gpufl.torch
import torch
from gpufl.analyzer import GpuFlightSession
from torch import nn


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "logs"
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 1)).to(device)
    optimizer = torch.optim.AdamW(model.parameters())

    gpufl.torch.attach()
    batches = (torch.randn(64, 256, device=device) for _ in range(20))
    for batch in gpufl.torch.steps(batches, first=10, last=14, app_name="train", log_path=folder):
        with gpufl.Scope("forward"):
            loss = model(batch).square().mean()
        with gpufl.Scope("backward"):
            loss.backward()
        with gpufl.Scope("update"):
            optimizer.step()
            optimizer.zero_grad()
    gpufl.torch.detach()

    session = GpuFlightSession(folder)
    session.print_summary()
    kernels = session.kernels
    for column in ("module", "line"):
        print(kernels.groupby(column, observed=True)["duration_ns"].sum().sort_values())


if __name__ == "__main__":
    main()
