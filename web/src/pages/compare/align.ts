// SPDX-License-Identifier: Apache-2.0
// Two timelines one above the other: what they are aligned at stands at the same place in both, and
// they show as much time, so that what is longer looks longer.

export interface View {
  from: number;
  to: number;
}
export type Span = readonly [number, number];

// The stretch that each shows as a whole: as far before and after its moment as any of them goes.
export function alignedSpans(spans: readonly Span[], moments: readonly number[]): Span[] {
  const before = Math.max(...spans.map(([from], i) => moments[i]! - from));
  const after = Math.max(...spans.map(([, to], i) => to - moments[i]!));
  return moments.map((moment): Span => [moment - before, moment + after]);
}

export function shifted({ from, to }: View, by: number): View {
  return { from: from + by, to: to + by };
}

// A view that came back from where it was sent to, give or take rounding.
export function isSameView(a: View, b: View): boolean {
  const slack = (a.to - a.from) * 1e-4 + 1;
  return Math.abs(a.from - b.from) < slack && Math.abs(a.to - b.to) < slack;
}

interface StepTimes {
  start_ns: number;
  end_ns: number;
}

// The step that both have, with some room around the longer one; null: one of them has no such step.
export function alignedStep(
  number: number,
  a: readonly StepTimes[],
  b: readonly StepTimes[],
): { moments: [number, number]; view: View } | null {
  const ofA = a[number - 1];
  const ofB = b[number - 1];
  if (!ofA || !ofB) return null;
  const length = Math.max(ofA.end_ns - ofA.start_ns, ofB.end_ns - ofB.start_ns, 1);
  return {
    moments: [ofA.start_ns, ofB.start_ns],
    view: {
      from: Math.round(ofA.start_ns - length * 0.1),
      to: Math.round(ofA.start_ns + length * 1.1),
    },
  };
}

// "5" or nothing, as an address has it, among so many.
export function stepNumber(text: string | null, most: number): number | null {
  const number = text !== null && /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= most ? number : null;
}

export function linkedView(from: string | null, to: string | null): View | null {
  const whole = /^-?\d{1,16}$/;
  if (from === null || to === null || !whole.test(from) || !whole.test(to)) return null;
  return Number(from) < Number(to) ? { from: Number(from), to: Number(to) } : null;
}
