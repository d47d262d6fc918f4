// SPDX-License-Identifier: Apache-2.0
// What keys do. A page lists them in its help; where there is none, the timeline listens itself.
import type { Timeline } from "./timeline";

export interface TimelineAction {
  // As KeyboardEvent.key.
  keys: string;
  what: string;
  run: (timeline: Timeline) => void;
}

const ZOOM = 0.6;
const PAN = 0.15;
const SCROLL_PX = 60;

export const ACTIONS: readonly TimelineAction[] = [
  { keys: "w", what: "Zoom in", run: (timeline) => timeline.zoomBy(ZOOM) },
  { keys: "s", what: "Zoom out", run: (timeline) => timeline.zoomBy(1 / ZOOM) },
  { keys: "a", what: "Move left", run: (timeline) => timeline.moveBy(-PAN) },
  { keys: "d", what: "Move right", run: (timeline) => timeline.moveBy(PAN) },
  { keys: "f", what: "Zoom to the selected event", run: (timeline) => timeline.zoomToSelected() },
  { keys: "m", what: "Mark the selected event's range", run: (timeline) => timeline.mark() },
  {
    keys: "c",
    what: "Put the cursor at the pointer, or at the selected event",
    run: (timeline) => timeline.placeCursor(),
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
  { keys: "PageDown", what: "Scroll a page down", run: (timeline) => timeline.scrollPages(1) },
  { keys: "PageUp", what: "Scroll a page up", run: (timeline) => timeline.scrollPages(-1) },
  { keys: "p", what: "Pin the selected event's track", run: (timeline) => timeline.pinSelected() },
  { keys: "Escape", what: "Clear the selection", run: (timeline) => timeline.clearSelection() },
];

export function listenToKeys(root: HTMLElement, timeline: Timeline, signal: AbortSignal): void {
  const handle = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = ACTIONS.find(({ keys }) => keys === event.key);
    if (!action) return;
    event.preventDefault();
    action.run(timeline);
  };
  root.addEventListener("keydown", handle, { signal });
}
