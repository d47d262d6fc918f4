// SPDX-License-Identifier: Apache-2.0
import type { Stats } from "../../api/types";
import { duration } from "../../base/format";
import { type Scale, sketchOf } from "./distribution";

const WIDTH = 120;
const HEIGHT = 14;

export function statisticsText(time: Stats): string {
  return [
    `shortest ${duration(time.min)}`,
    `half within ${duration(time.median)}`,
    `90% within ${duration(time.p90)}`,
    `99% within ${duration(time.p99)}`,
    `longest ${duration(time.max)}`,
  ].join(" · ");
}

// A line from the shortest to the longest, a box from the median to the 90th percentile, a tick at
// the 99th.
export function DistributionSketch({
  time,
  scale,
  color,
}: {
  time: Stats;
  scale: Scale;
  color: string;
}) {
  const sketch = sketchOf(time, scale);
  if (!sketch) return <span className="faint">–</span>;
  const x = (share: number) => 1 + share * (WIDTH - 4);
  return (
    <svg
      className="sketch"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
    >
      <title>{statisticsText(time)}</title>
      <rect
        x={x(sketch.min)}
        y={6.5}
        width={Math.max(x(sketch.max) - x(sketch.min), 1)}
        height={1}
        className="sketch-line"
      />
      <rect
        x={x(sketch.median) - 1}
        y={2}
        width={Math.max(x(sketch.p90) - x(sketch.median), 0) + 2}
        height={10}
        style={{ fill: color }}
      />
      <rect x={x(sketch.p99)} y={3} width={1.5} height={8} className="sketch-tick" />
    </svg>
  );
}
