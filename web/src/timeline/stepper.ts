// SPDX-License-Identifier: Apache-2.0
// Selects the next event, or one of those that are drawn as one.
import type { Asks } from "./asks";
import { neighbour, type StepHit } from "./hit";
import type { Item, Layout } from "./layout";
import type { Store } from "./state";
import { firstEvent, inNextRow, type SegmentsOf } from "./steps";
import type { EventRef } from "./types";
import { spanOf, type View } from "./view";

// For what found no room in the rows before it: many overlap there, and no zoom shows each of them.
const REST_ROW = 128;

export class Stepper {
  constructor(
    private readonly store: Store,
    private readonly asks: Asks,
    private readonly segmentsOf: SegmentsOf,
    private readonly select: (event: EventRef, isRevealed: boolean) => void,
  ) {}

  // False: several begin there, or none.
  selectIn(step: StepHit): boolean {
    if (step.count !== 1 && (step.count === 0 || step.to - step.from > 1)) return false;
    return this.asks.begins(step, ([event]) => event && this.select(event, false));
  }

  // To the next event of the row, or to the first in view. False: none is drawn by itself.
  step(by: 1 | -1, near: readonly Item[], view: View): boolean {
    const { selected } = this.store.state;
    const next = selected
      ? neighbour(selected, by, this.segmentsOf(selected.track))
      : firstEvent(near, this.segmentsOf);
    if (next) this.select(next, true);
    else if (selected?.row === REST_ROW) this.stepAmong(selected, by, Math.ceil(spanOf(view)));
    else return false;
    return true;
  }

  private stepAmong(selected: EventRef, by: 1 | -1, span: number): void {
    const { track, row, start } = selected;
    const [from, to] = by > 0 ? [start, start + span] : [start - span, start + 1];
    this.asks.begins({ track, row, from, to }, (events) => {
      const at = events.findIndex(({ event }) => event === selected.event);
      const next = at < 0 ? undefined : events[at + by];
      if (next) this.select(next, true);
    });
  }

  // To the nearest event of the next row that has one.
  stepRow(by: 1 | -1, layout: Layout, view: View): void {
    const { selected } = this.store.state;
    if (!selected) return;
    const next = inNextRow(layout, selected, by, spanOf(view), this.segmentsOf);
    if (next) this.select(next, true);
  }
}
