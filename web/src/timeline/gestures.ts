// SPDX-License-Identifier: Apache-2.0
// What the pointer and the wheel mean to a timeline.
import type { Hit, StepHit } from "./hit";
import type { Point } from "./hover";
import type { InputTarget } from "./input";
import type { EventRef } from "./types";
import { around, pan, timeOf, type View, zoom } from "./view";

export interface Gestured {
  readonly view: View;
  readonly width: number;
  whole(): View;
  setView(view: View): void;
  moveTo(view: View): void;
  scrollBy(dy: number): boolean;
  hitAt(point: Point): Hit | null;
  setPointer(point: Point | null): void;
  select(event: EventRef | null): void;
  // False: several begin there, or none.
  selectIn(step: StepHit): boolean;
  setRange(range: readonly [number, number] | null): void;
  setCursor(cursor: number | null): void;
}

// So many are under one pixel that they have to be taken apart first.
const APART = 0.2;

// `onOpen`: of a timeline that only shows, what pressing an event does; undefined: events and
// ranges are selected.
export function gesturesOf(
  timeline: Gestured,
  isCompact: boolean,
  onOpen: ((event: EventRef) => void) | undefined,
): InputTarget {
  const zoomed = (x: number, factor: number) =>
    zoom(timeline.view, timeline.whole(), x / timeline.width, factor);
  const at = (x: number) => Math.round(timeOf(timeline.view, timeline.width, x));
  return {
    zoomAt: (x, factor) => timeline.setView(zoomed(x, factor)),
    panBy: (dx, dy) => {
      timeline.setView(pan(timeline.view, timeline.whole(), -dx / timeline.width));
      if (dy !== 0) timeline.scrollBy(-dy);
    },
    scrollBy: (dy) => timeline.scrollBy(dy),
    hover: (x, y) => timeline.setPointer({ x, y }),
    leave: () => timeline.setPointer(null),
    click: (x, y) => {
      const hit = timeline.hitAt({ x, y });
      if (isCompact) {
        if (hit?.kind === "event") onOpen?.(hit.event);
      } else if (hit?.kind === "event") {
        timeline.select(hit.event);
      } else if (hit?.kind === "step") {
        if (!timeline.selectIn(hit.step)) timeline.moveTo(zoomed(x, APART));
      } else {
        timeline.select(null);
      }
    },
    doubleClick: (x, y) => {
      const hit = timeline.hitAt({ x, y });
      if (hit?.kind !== "event") return;
      timeline.moveTo(around(hit.event.start, hit.event.end, timeline.whole()));
    },
    chooseRange: (a, b) => {
      if (isCompact) return;
      const from = at(Math.min(a, b));
      timeline.setRange([from, Math.max(at(Math.max(a, b)), from + 1)]);
    },
    pressRuler: (x) => {
      timeline.setRange(null);
      if (!isCompact) timeline.setCursor(at(x));
    },
  };
}
