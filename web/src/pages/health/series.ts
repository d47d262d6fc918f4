// SPDX-License-Identifier: Apache-2.0
// Series of readings as columns of a chart.
import type { SeriesPicture } from "../../api/types";
import { bitsOf } from "../../base/metrics";

export function stepsOf({ step }: SeriesPicture): number[] {
  let at = 0;
  return step.map((more) => (at += more));
}

export interface Columns {
  x: number[];
  values: (number | null)[][];
  low: (number | null)[][];
  high: (number | null)[][];
}

// Series of one answer have one length of steps; a step in which one of them has no reading is null.
// Times are the middles of steps.
export function columnsOf(list: SeriesPicture[]): Columns {
  const all = new Set<number>();
  for (const series of list) for (const step of stepsOf(series)) all.add(step);
  const steps = [...all].sort((a, b) => a - b);
  const placeOf = new Map(steps.map((step, index) => [step, index]));
  const length = list[0]?.step_ns ?? 1;
  const column = (series: SeriesPicture, values: number[]) => {
    const out: (number | null)[] = new Array<number | null>(steps.length).fill(null);
    stepsOf(series).forEach((step, i) => (out[placeOf.get(step) as number] = values[i] ?? null));
    return out;
  };
  return {
    x: steps.map((step) => (step + 0.5) * length),
    values: list.map((series) => column(series, series.mean)),
    low: list.map((series) => column(series, series.min)),
    high: list.map((series) => column(series, series.max)),
  };
}

// Growth of a counter in a second, from one reading to the next. A counter that starts anew has none.
export function rateOf(series: SeriesPicture): SeriesPicture {
  const steps = stepsOf(series);
  const rates = series.last.map((value, i) => {
    const before = series.last[i - 1];
    if (before === undefined || value < before) return null;
    const seconds = (((steps[i] as number) - (steps[i - 1] as number)) * series.step_ns) / 1e9;
    return seconds > 0 ? (value - before) / seconds : null;
  });
  const kept = rates.flatMap((rate, i) =>
    rate === null ? [] : [{ rate, step: steps[i] as number }],
  );
  const values = kept.map(({ rate }) => rate);
  return {
    ...series,
    step: kept.map(({ step }, i) => step - (kept[i - 1]?.step ?? 0)),
    min: values,
    max: values,
    last: values,
    mean: values,
  };
}

// Series of several links, added up step by step: a link that has no reading in a step keeps its last.
export function sumOf(list: SeriesPicture[]): SeriesPicture | null {
  const [first] = list;
  if (!first) return null;
  const { values } = columnsOf(list);
  const all = [...new Set(list.flatMap(stepsOf))].sort((a, b) => a - b);
  const kept = list.map(() => 0);
  const sums = all.map((_, i) => {
    values.forEach((column, s) => {
      const value = column[i];
      if (value !== null && value !== undefined) kept[s] = value;
    });
    return kept.reduce((sum, value) => sum + value, 0);
  });
  const step = all.map((at, i) => at - (all[i - 1] ?? 0));
  return { ...first, step, min: sums, max: sums, last: sums, mean: sums };
}

export interface Stretch {
  from_ns: number;
  to_ns: number;
}

// When each bit of a set was on, as far as readings tell: from one with it to the next without.
export function stretchesOf(series: SeriesPicture, end_ns: number): Map<number, Stretch[]> {
  const steps = stepsOf(series);
  const found = new Map<number, Stretch[]>();
  const open = new Map<number, number>();
  const close = (bit: number, from_ns: number, to_ns: number) => {
    found.set(bit, [...(found.get(bit) ?? []), { from_ns, to_ns }]);
    open.delete(bit);
  };
  steps.forEach((step, i) => {
    const at = step * series.step_ns;
    const bits = new Set(bitsOf(series.last[i] ?? 0));
    for (const [bit, from] of [...open]) if (!bits.has(bit)) close(bit, from, at);
    for (const bit of bits) if (!open.has(bit)) open.set(bit, at);
  });
  for (const [bit, from] of [...open]) close(bit, from, end_ns);
  return found;
}
