# SPDX-License-Identifier: Apache-2.0
"""What a session shows that somebody can act on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Evidence:
    """Where an insight can be seen. What does not apply is None."""

    text: str
    kernel: str | None = None
    scope: str | None = None
    file: str | None = None
    line: int | None = None
    device: int | None = None
    start_ns: int | None = None
    end_ns: int | None = None


@dataclass(frozen=True)
class Insight:
    """One finding: docs/reference/insights.md explains its rule."""

    rule: str
    category: str  # "SYNCHRONIZATION", "LAUNCH", ...
    severity: str  # "HIGH", "MEDIUM", "LOW"
    title: str
    detail: str
    advice: str
    gain_ns: float | None  # None: what it would save cannot be told
    gain_share: float  # of gain_of's time
    gain_of: str  # "session", or "what was recorded" where that is only a part of it
    estimate: str  # how the gain was estimated
    confidence: str  # "high", "medium", "low"
    evidence: tuple[Evidence, ...]

    def __str__(self) -> str:
        return f"[{self.severity}] {self.title}\n  {self.detail}\n  -> {self.advice}"

    @classmethod
    def of_report(cls, entry: dict[str, Any]) -> Insight:
        """From an entry of a JSON report's `insights`."""
        evidence = tuple(Evidence(**part) for part in entry["evidence"])
        return cls(**{**entry, "evidence": evidence})
