// SPDX-License-Identifier: Apache-2.0
// A timeline for any page: `createTimeline(element, source, { isCompact: true })`. It has no
// dependency but the custom properties that colours come from.
import { Timeline } from "./timeline";
import type { TimelineOptions } from "./timeline_moves";
import { Pending, type TimelineSource } from "./types";

export { ACTIONS, type TimelineAction } from "./actions";
export { MemorySource, type MemoryData } from "./memory_source";
export { type TimelineState } from "./state";
export { Timeline } from "./timeline";
export type { TimelineOptions } from "./timeline_moves";
export * from "./types";

const AGAIN_MS = 500;

// Asks the source what there is, and again until it is complete. The element needs a height.
export function createTimeline(
  container: HTMLElement,
  source: TimelineSource,
  options: TimelineOptions & { onProblem?: (problem: unknown) => void } = {},
): Timeline {
  const timeline = new Timeline(container, source, options);
  const stop = new AbortController();
  let timer = 0;
  const ask = () => {
    source.describe(stop.signal).then(
      (description) => {
        if (stop.signal.aborted) return;
        timeline.setDescription(description);
        if (!description.isComplete) timer = window.setTimeout(ask, AGAIN_MS);
      },
      (problem: unknown) => {
        if (stop.signal.aborted) return;
        if (problem instanceof Pending) timer = window.setTimeout(ask, AGAIN_MS);
        else options.onProblem?.(problem);
      },
    );
  };
  ask();
  const destroy = timeline.destroy.bind(timeline);
  timeline.destroy = () => {
    stop.abort();
    clearTimeout(timer);
    destroy();
  };
  return timeline;
}
