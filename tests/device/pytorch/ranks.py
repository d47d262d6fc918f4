# SPDX-License-Identifier: Apache-2.0
"""ranks.py: what torchrun starts: every rank does a different amount of work on GPU 0 and meets the
others over gloo."""

import gpt_model
import torch
import torch.distributed

torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
training = gpt_model.Training()
for _ in range(2 + rank):
    training.step()
torch.cuda.synchronize()
torch.distributed.barrier()
torch.distributed.destroy_process_group()
