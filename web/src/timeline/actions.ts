// SPDX-License-Identifier: Apache-2.0
// What keys do. A page lists them in its help; where there is none, the timeline listens itself.
import { keyName } from "../base/key_name";
import type { Timeline } from "./timeline";
import type { EventRef } from "./types";

export interface TimelineAction {
  // As KeyboardEvent.key.
  keys: string;
  what: string;
  run: (timeline: Timeline) => void;
  // What it changes is shown by the page around it.
  needsPage?: boolean;
}

const ZOOM = 0.6;
const PAN = 0.15;
const SCROLL_PX = 60;
const EXTEND = 0.02;

export const ACTIONS: readonly TimelineAction[] = [
  { keys: "w", what: "Zoom in", run: (timeline) => timeline.zoomBy(ZOOM) },
  { keys: "s", what: "Zoom out", run: (timeline) => timeline.zoomBy(1 / ZOOM) },
  { keys: "a", what: "Move left", run: (timeline) => timeline.moveBy(-PAN) },
  { keys: "d", what: "Move right", run: (timeline) => timeline.moveBy(PAN) },
  { keys: "f", what: "Zoom to the selected event", run: (timeline) => timeline.zoomToSelected() },
  {
    keys: "m",
    what: "Mark the selected event's range",
    run: (timeline) => timeline.mark(),
    needsPage: true,
  },
  {
    keys: "c",
    what: "Put the cursor at the pointer, or at the selected event",
    run: (timeline) => timeline.placeCursor(),
    needsPage: true,
  },
  { keys: "0", what: "Show everything", run: (timeline) => timeline.fit() },
  { keys: ".", what: "Select the next event of the row", run: (timeline) => timeline.step(1) },
  { keys: ",", what: "Select the event before", run: (timeline) => timeline.step(-1) },
  {
    keys: "ArrowRight",
    what: "Next event, or move right",
    run: (timeline) => (timeline.state.selected ? timeline.step(1) : timeline.moveBy(PAN)),
  },
  {
    keys: "ArrowLeft",
    what: "Event before, or move left",
    run: (timeline) => (timeline.state.selected ? timeline.step(-1) : timeline.moveBy(-PAN)),
  },
  {
    keys: "ArrowDown",
    what: "Event in the row below, or scroll down",
    run: (timeline) =>
      timeline.state.selected ? timeline.stepRow(1) : timeline.scrollBy(SCROLL_PX),
  },
  {
    keys: "ArrowUp",
    what: "Event in the row above, or scroll up",
    run: (timeline) =>
      timeline.state.selected ? timeline.stepRow(-1) : timeline.scrollBy(-SCROLL_PX),
  },
  {
    keys: "Shift+ArrowRight",
    what: "Select a range, or move its end right",
    run: (timeline) => timeline.extendRange(EXTEND),
    needsPage: true,
  },
  {
    keys: "Shift+ArrowLeft",
    what: "Select a range, or move its end left",
    run: (timeline) => timeline.extendRange(-EXTEND),
    needsPage: true,
  },
  { keys: "PageDown", what: "Scroll a page down", run: (timeline) => timeline.scrollPages(1) },
  { keys: "PageUp", what: "Scroll a page up", run: (timeline) => timeline.scrollPages(-1) },
  {
    keys: "p",
    what: "Pin the selected event's track",
    run: (timeline) => timeline.pinSelected(),
    needsPage: true,
  },
  { keys: "Escape", what: "Clear the selection", run: (timeline) => timeline.clearSelection() },
];

export function listenToKeys(
  root: HTMLElement,
  timeline: Timeline,
  signal: AbortSignal,
  onOpen?: (event: EventRef) => void,
): void {
  const handle = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const name = keyName(event);
    const { selected } = timeline.state;
    const action = ACTIONS.find(({ keys, needsPage }) => keys === name && !(needsPage && onOpen));
    if (action) action.run(timeline);
    else if (name === "Enter" && onOpen && selected) onOpen(selected);
    else return;
    event.preventDefault();
  };
  root.addEventListener("keydown", handle, { signal });
}
