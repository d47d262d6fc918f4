// SPDX-License-Identifier: Apache-2.0
// Which stretch to ask for, so that moving about asks seldom: about three screens, in steps that are
// a power of two, from whole multiples of many steps. Pure.
import { spanOf, type View } from "./view";

export interface Stretch {
  from: number;
  to: number;
  // Steps are 2^level ns long; there are `width` of them.
  level: number;
  width: number;
}

const BLOCK_STEPS = 512;
// What the server takes.
const MOST_STEPS = 16_384;

// The longest power of two that is not longer than a pixel.
export function levelOf(view: View, pixels: number): number {
  return Math.max(0, Math.floor(Math.log2(spanOf(view) / pixels) + 1e-9));
}

// `whole`: nothing is outside of it, so nothing needs to be asked for there.
export function stretchFor(view: View, pixels: number, whole: View): Stretch {
  const level = levelOf(view, pixels);
  const step = Math.pow(2, level);
  const block = step * BLOCK_STEPS;
  const around = (margin: number) => ({
    from: Math.floor((view.from - margin) / block) * block,
    to: Math.ceil((view.to + margin) / block) * block,
  });
  let { from, to } = around(spanOf(view));
  if ((to - from) / step > MOST_STEPS) ({ from, to } = around(0));
  // A range that is cut at the ends of the session is the same for all views near them.
  from = Math.max(from, Math.floor(whole.from / block) * block);
  to = Math.min(to, Math.ceil(whole.to / block) * block);
  if (to <= from) to = from + block;
  return { from, to, level, width: Math.min(Math.round((to - from) / step), MOST_STEPS) };
}

// What of a view has to be there: outside of the session nothing is.
export function needed(view: View, whole: View): View {
  const from = Math.min(Math.max(view.from, whole.from), whole.to);
  return { from, to: Math.max(Math.min(view.to, whole.to), from) };
}
