// SPDX-License-Identifier: Apache-2.0
// Two timelines one above the other: both begin at their first event and show as much time, so that
// what is longer looks longer.

export interface View {
  from: number;
  to: number;
}
export type Span = readonly [number, number];

export function lengthOf(spans: (Span | null | undefined)[]): number {
  return spans.reduce((most, span) => Math.max(most, span ? span[1] - span[0] : 0), 0);
}

// As long as the longer of both.
export function alignedSpan(span: Span | null, length: number): Span | null {
  return span ? [span[0], span[0] + length] : null;
}

export function shifted({ from, to }: View, by: number): View {
  return { from: from + by, to: to + by };
}

// A view that came back from where it was sent to, give or take rounding.
export function isSameView(a: View, b: View): boolean {
  const slack = (a.to - a.from) * 1e-4 + 1;
  return Math.abs(a.from - b.from) < slack && Math.abs(a.to - b.to) < slack;
}
