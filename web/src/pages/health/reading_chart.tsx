// SPDX-License-Identifier: Apache-2.0
// One chart of readings: a line for each metric of a GPU, or for each GPU.
import { useMemo } from "react";
import type { HealthMetric, SeriesPicture } from "../../api/types";
import { formatOf } from "../../base/metrics";
import { Chart } from "../../widgets/chart";
import type { ChartCursor } from "../cursor";
import { type ChartGroup, legendOf } from "./readings";
import { columnsOf, rateOf, sumOf } from "./series";

interface Line {
  label: string;
  series: SeriesPicture;
}

// Links and fans of a GPU are one line.
function linesOf(
  group: ChartGroup,
  readings: HealthMetric[],
  series: Map<string, SeriesPicture>,
  hasManyDevices: boolean,
): Line[] {
  const metrics = new Set(readings.map(({ metric }) => metric));
  const byLine = new Map<string, SeriesPicture[]>();
  for (const { id, device, metric, index } of readings) {
    const found = series.get(id);
    if (!found) continue;
    const gpu = hasManyDevices && device !== null ? `GPU ${device}` : "";
    const words = metrics.size > 1 || gpu === "" ? legendOf(group, metric) : "";
    const place = !group.isRate && index > 0 ? String(index) : "";
    const label = [gpu, words, place].filter(Boolean).join(" ");
    byLine.set(label, [...(byLine.get(label) ?? []), found]);
  }
  return [...byLine].flatMap(([label, list]) => {
    if (!group.isRate) return list.map((one) => ({ label, series: one }));
    const sum = sumOf(list);
    return sum ? [{ label, series: rateOf(sum) }] : [];
  });
}

export function ReadingChart({
  group,
  readings,
  series,
  hasManyDevices,
  span,
  shared,
  mark,
  note,
}: {
  group: ChartGroup;
  readings: HealthMetric[];
  series: Map<string, SeriesPicture>;
  hasManyDevices: boolean;
  span: [number, number];
  shared: ChartCursor;
  mark?: number | undefined;
  note?: string | undefined;
}) {
  const { x, drawn } = useMemo(() => {
    const lines = linesOf(group, readings, series, hasManyDevices);
    const columns = columnsOf(lines.map((line) => line.series));
    return {
      x: columns.x,
      drawn: lines.map(({ label }, i) => ({
        label,
        values: columns.values[i] ?? [],
        ...(group.isRate ? {} : { low: columns.low[i] ?? [], high: columns.high[i] ?? [] }),
      })),
    };
  }, [group, readings, series, hasManyDevices]);
  const metric = readings[0]?.metric ?? "";
  const format = formatOf(group.isRate ? "x_bytes_per_s" : metric);
  const isShare = metric.endsWith("_pct");
  return (
    <Chart
      title={group.title}
      x={x}
      series={drawn}
      format={format}
      height={128}
      range={span}
      spansGaps
      {...(group.isBinary ? { isBinary: true } : {})}
      {...(isShare ? { maxValue: 100 } : {})}
      {...(mark === undefined ? {} : { mark })}
      {...shared}
      note={note === undefined ? undefined : <span className="num">{note}</span>}
    />
  );
}
