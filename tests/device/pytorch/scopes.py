# SPDX-License-Identifier: Apache-2.0
"""scopes.py FOLDER: a session of its own, and a scope around the forward pass, the backward pass and
the update of each step. Prints the id of the thread that opens them."""

import sys
import threading

import gpt_model
import torch
from torch_session import Scope, Session

training = gpt_model.Training()
training.step()
torch.cuda.synchronize()
with Session(sys.argv[1]):
    for _ in range(3):
        with Scope("forward"):
            loss = training.forward()
            torch.cuda.synchronize()
        with Scope("backward"):
            loss.backward()
            torch.cuda.synchronize()
        with Scope("update"):
            training.optimizer.step()
            torch.cuda.synchronize()
        training.optimizer.zero_grad(set_to_none=True)
print(threading.get_native_id())
