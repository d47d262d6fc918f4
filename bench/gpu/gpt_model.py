# SPDX-License-Identifier: Apache-2.0
"""A small GPT: what the benchmarks of Trace run, and tests of stacks look for in the log.

Six layers of width 768, a batch of 16 sequences of 128 tokens, bfloat16 by autocast, AdamW one
parameter at a time: some 1,060 launches a step, which the CPU is busier with than the GPU.
"""

import torch
from torch import nn
from torch.nn import functional

LAYERS = 6
WIDTH = 768
HEADS = 12
VOCABULARY = 512
SEQUENCES = 16
TOKENS = 128


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_key_value = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, tokens, _ = x.shape
        heads = self.query_key_value(x).view(batch, tokens, 3, HEADS, WIDTH // HEADS)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(-2, -1)) * (WIDTH // HEADS) ** -0.5
        mixed = functional.softmax(weights, dim=-1) @ value
        return self.output(mixed.transpose(1, 2).reshape(batch, tokens, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp_norm = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class SmallGpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Training:
    """A model, its data and optimizer on one device; each step is forward, backward, update."""

    def __init__(self, device="cuda"):
        torch.manual_seed(0)
        self.device_type = torch.device(device).type
        self.model = SmallGpt().to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, foreach=False, fused=False)
        self.tokens = torch.randint(VOCABULARY, (SEQUENCES, TOKENS), device=device)

    def forward(self):
        with torch.autocast(self.device_type, dtype=torch.bfloat16):
            logits = self.model(self.tokens)
            return functional.cross_entropy(logits.view(-1, VOCABULARY), self.tokens.view(-1))

    def step(self):
        loss = self.forward()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss
