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

  // To the next event of its row where that is further away than what is drawn. It looks at stretches
  // that grow, each beyond the one before.
  stepFar(selected: EventRef, by: 1 | -1, view: View, whole: View): void {
    this.seek(selected, by, 0, Math.ceil(spanOf(view)), whole);
  }

  // `empty`: how far from the selected event there is none.
  private seek(selected: EventRef, by: 1 | -1, empty: number, length: number, whole: View): void {
    const { track, row, start } = selected;
    const edge = start + by * empty;
    const first = Math.max(Math.floor(whole.from), edge - length);
    const [from, to] = by > 0 ? [edge + 1, edge + 1 + length] : [first, edge];
    if (by > 0 ? from >= whole.to : from >= to) return;
    this.asks.begins({ track, row, from, to }, (events) => {
      if (this.store.state.selected !== selected) return;
      const next = by > 0 ? events[0] : events.at(-1);
      if (!next) this.seek(selected, by, empty + length, 2 * length, whole);
      else if (by > 0) this.select(next, true);
      else this.lastBefore(selected, next, edge);
    });
  }

  // A list has the first events of a stretch: those behind them may be nearer.
  private lastBefore(selected: EventRef, found: EventRef, to: number): void {
    const { track, row, start } = found;
    const choose = () => this.select(found, true);
    if (start + 1 >= to) return choose();
    this.asks.begins({ track, row, from: start + 1, to }, (events) => {
      if (this.store.state.selected !== selected) return;
      const later = events.at(-1);
      if (later) this.lastBefore(selected, later, to);
      else choose();
    });
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
