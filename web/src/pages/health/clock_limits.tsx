// SPDX-License-Identifier: Apache-2.0
// Why clocks were below their maximum, and when: a strip for each reason.
import type { SeriesPicture } from "../../api/types";
import { percent } from "../../base/format";
import { bitsOf, isAlarming, limitName } from "../../base/metrics";
import { stretchesOf } from "./series";

export function ClockLimits({
  title,
  series,
  bitSamples,
  samples,
  span,
  cursor,
}: {
  title: string;
  series: SeriesPicture;
  // By bit, of so many samples; undefined: still being counted.
  bitSamples: number[] | undefined;
  samples: number;
  span: [number, number];
  cursor: number | null;
}) {
  const [from, to] = span;
  const stretches = stretchesOf(series, to);
  const bits = [...stretches.keys()].sort(
    (a, b) => Number(isAlarming(b)) - Number(isAlarming(a)) || a - b,
  );
  const place = (ns: number) =>
    (100 * (Math.min(Math.max(ns, from), to) - from)) / Math.max(to - from, 1);
  const at = cursor === null ? null : nowOf(series, cursor);
  return (
    <div className="limits">
      <div className="chart-head">
        <h3>{title}</h3>
        <span className="grow" />
        {at !== null && <span className="num">{at}</span>}
      </div>
      {bits.length === 0 ? (
        <p className="dim">Nothing held the clocks back in any of the samples.</p>
      ) : (
        bits.map((bit) => (
          <div key={bit} className={isAlarming(bit) ? "limit alarming" : "limit"}>
            <span>
              {limitName(bit)}
              <b className="num">
                {bitSamples && samples > 0
                  ? `${percent((bitSamples[bit] ?? 0) / samples)} of samples`
                  : ""}
              </b>
            </span>
            <div>
              {stretches.get(bit)?.map(({ from_ns, to_ns }) => (
                <i
                  key={from_ns}
                  style={{ left: `${place(from_ns)}%`, width: `${place(to_ns) - place(from_ns)}%` }}
                />
              ))}
              {cursor !== null && <em style={{ left: `${place(cursor)}%` }} />}
            </div>
          </div>
        ))
      )}
    </div>
  );
}

function nowOf(series: SeriesPicture, cursor: number): string {
  let at = 0;
  let value: number | null = null;
  series.step.forEach((more, i) => {
    at += more;
    if (at * series.step_ns <= cursor) value = series.last[i] ?? null;
  });
  if (value === null) return "";
  return bitsOf(value).map(limitName).join(", ") || "none";
}
