# SPDX-License-Identifier: Apache-2.0
"""One step of a GPT of one layer, for recordings that are kept: few launches, every sort of them."""

import gpt_model
import torch

gpt_model.LAYERS = 1
training = gpt_model.Training()
training.step()
torch.cuda.synchronize()
