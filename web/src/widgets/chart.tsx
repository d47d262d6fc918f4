// SPDX-License-Identifier: Apache-2.0
// Values over time, drawn by uPlot in the colours of the page. Left and right move the cursor, Enter
// picks what is there.
import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { count, moment, UNKNOWN } from "../base/format";
import { useIsDark } from "../base/media";
import {
  BINARY_STEPS,
  nearestIndex,
  summary,
  TIME_STEPS,
  timeLabels,
  VALUE_STEPS,
  WHOLE_STEPS,
} from "./chart_axis";
import { Swatch } from "./parts";
import "./chart.css";

export interface ChartSeries {
  label: string;
  values: (number | null)[];
  // A colour of CSS, also as "var(--k-matmul)".
  color?: string;
  // A band around the values.
  low?: (number | null)[];
  high?: (number | null)[];
}

export interface ChartProps {
  title: string;
  // Nanoseconds, or whole numbers where the axis is one of numbers; ascending.
  x: number[];
  series: ChartSeries[];
  format: (value: number) => string;
  height?: number;
  onPick?: (x: number) => void;
  cursor?: number | null;
  onCursor?: (x: number | null) => void;
  shape?: "lines" | "steps" | "bars";
  axis?: "time" | "number";
  // What one of the numbers on the axis is: "step".
  axisName?: string;
  // Where ticks are round in powers of two, as those of sizes in MiB are.
  isBinary?: boolean;
  // Ends of the axes, where they are not those of the values.
  maxValue?: number;
  // A line across, which values are held against: a limit.
  mark?: number;
  range?: [number, number];
  // Draws on where a series has no value at a time that another one has.
  spansGaps?: boolean;
  note?: ReactNode;
}

const COLORS = ["--accent", "--k-reduction", "--k-gather", "--k-softmax", "--k-norm", "--k-comm"];
const AXIS_PX = 68;

function colorOf(series: ChartSeries, index: number): string {
  return series.color ?? `var(${COLORS[index % COLORS.length] as string})`;
}

// A canvas knows no custom properties.
function resolved(color: string): string {
  const name = /^var\((--[\w-]+)\)$/.exec(color)?.[1];
  if (name === undefined) return color;
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function faded(color: string): string {
  return /^#[0-9a-f]{6}$/i.test(color) ? `${color}2e` : color;
}

function isKnown(value: number | null | undefined): value is number {
  return value !== null && value !== undefined;
}

export function isAllZero(series: Pick<ChartSeries, "values">[]): boolean {
  return series.every(({ values }) => values.every((value) => !value));
}

function drawMark(self: uPlot, mark: number | undefined, color: string): void {
  if (mark === undefined) return;
  const { ctx, bbox } = self;
  const y = Math.round(self.valToPos(mark, "y", true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = uPlot.pxRatio;
  ctx.setLineDash([4 * uPlot.pxRatio, 4 * uPlot.pxRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

function dataOf(x: number[], series: ChartSeries[]): uPlot.AlignedData {
  const columns: (number | null)[][] = [];
  for (const { values, low, high } of series) {
    columns.push(values);
    if (low && high) columns.push(low, high);
  }
  return [x, ...columns] as uPlot.AlignedData;
}

// uPlot's series and bands: a series with a band is three of them.
function partsOf(series: ChartSeries[], shape: ChartProps["shape"], spanGaps: boolean) {
  const parts: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  const paths =
    shape === "bars"
      ? uPlot.paths.bars?.({ size: [0.8, 48], align: 0 })
      : shape === "steps"
        ? uPlot.paths.stepped?.({ align: 1 })
        : uPlot.paths.linear?.();
  const pathOptions = paths === undefined ? {} : { paths };
  series.forEach((one, index) => {
    const stroke = resolved(colorOf(one, index));
    parts.push({
      label: one.label,
      stroke,
      spanGaps,
      width: shape === "bars" ? 0 : 1.5,
      ...(shape === "bars" ? { fill: stroke, points: { show: false } } : {}),
      ...pathOptions,
    });
    if (!one.low || !one.high) return;
    const bound: uPlot.Series = {
      stroke: "transparent",
      spanGaps,
      points: { show: false },
      ...pathOptions,
    };
    parts.push(
      { ...bound, label: `${one.label}, least` },
      { ...bound, label: `${one.label}, most` },
    );
    bands.push({ series: [parts.length - 1, parts.length - 2], fill: faded(stroke) });
  });
  return { parts, bands };
}

export function Chart(props: ChartProps) {
  const {
    title,
    x,
    series,
    height = 140,
    shape = "lines",
    axis = "time",
    isBinary = false,
  } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const isDark = useIsDark();
  const id = useId();
  const [ownCursor, setOwnCursor] = useState<number | null>(null);
  const cursor = props.cursor === undefined ? ownCursor : props.cursor;
  const moveTo = (to: number | null) => {
    setOwnCursor(to);
    latest.current.onCursor?.(to);
  };
  const move = useRef(moveTo);
  move.current = moveTo;
  const shapeKey = JSON.stringify([
    series.map((one, i) => [one.label, colorOf(one, i), Boolean(one.low && one.high)]),
    [height, shape, axis, isBinary, isDark],
  ]);
  const data = useMemo(() => dataOf(x, series), [x, series]);
  const shown = useRef(data);

  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const { parts, bands } = partsOf(
      latest.current.series,
      shape,
      latest.current.spansGaps ?? false,
    );
    const ink = resolved("var(--ink3)");
    const line = resolved("var(--line)");
    const font = `11px ${resolved("var(--font)")}`;
    const common = { stroke: ink, font, ticks: { show: false } };
    const created = new uPlot(
      {
        width: Math.max(element.clientWidth, 100),
        height,
        padding: [8, 12, 0, 0],
        legend: { show: false },
        series: parts,
        bands,
        scales: {
          x: {
            time: false,
            range: (_, min, max) => {
              const bars = shape === "bars" ? 0.6 : 0;
              const [low, high] = latest.current.range ?? [min - bars, max + bars];
              return low < high ? [low, high] : [low - 1, high + 1];
            },
          },
          y: {
            range: (_, min, max) => {
              const most = Math.max(max, latest.current.mark ?? max);
              const top = latest.current.maxValue ?? most + Math.abs(most) * 0.06;
              const bottom = Math.min(0, min ?? 0);
              return top > bottom ? [bottom, top] : [bottom, bottom + 1];
            },
          },
        },
        axes: [
          {
            ...common,
            size: 26,
            // Its first label is not that of the other axis.
            gap: 8,
            space: 90,
            incrs: axis === "time" ? TIME_STEPS : WHOLE_STEPS,
            values: (_, ticks, __, ___, step) =>
              axis === "time" ? timeLabels(ticks, step) : ticks.map((tick) => count(tick)),
            grid: { show: false },
          },
          {
            ...common,
            size: AXIS_PX,
            gap: 6,
            space: 24,
            incrs: isBinary ? BINARY_STEPS : VALUE_STEPS,
            values: (_, ticks) =>
              ticks.map((tick) => {
                if (tick === 0) return "0";
                // Of nothing but zeros there is no size to tell.
                return isAllZero(latest.current.series) ? "" : latest.current.format(tick);
              }),
            grid: { stroke: line, width: 1 },
          },
        ],
        cursor: { y: false, drag: { x: false, y: false, setScale: false } },
        hooks: {
          draw: [(self) => drawMark(self, latest.current.mark, resolved("var(--warn)"))],
          setCursor: [
            (self) => {
              const { left } = self.cursor;
              const isInside = left !== undefined && left !== null && left >= 0;
              move.current(isInside ? self.posToVal(left, "x") : null);
            },
          ],
        },
      },
      shown.current,
      element,
    );
    plot.current = created;
    const onClick = () => {
      const { left } = created.cursor;
      if (left !== undefined && left >= 0) latest.current.onPick?.(created.posToVal(left, "x"));
    };
    created.over.addEventListener("click", onClick);
    const observer = new ResizeObserver(() =>
      created.setSize({ width: Math.max(element.clientWidth, 100), height }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      created.destroy();
      plot.current = null;
    };
    // shapeKey stands for all that a plot cannot change once it is there.
  }, [shapeKey]);

  const [rangeStart, rangeEnd] = props.range ?? [null, null];
  useEffect(() => {
    shown.current = data;
    plot.current?.setData(data);
  }, [data, props.maxValue, rangeStart, rangeEnd, shapeKey]);

  useEffect(() => {
    const u = plot.current;
    if (!u) return;
    const left = cursor === null ? -10 : u.valToPos(cursor, "x");
    const isInside = left >= 0 && left <= u.over.clientWidth;
    u.setCursor({ left: isInside ? left : -10, top: isInside ? 0 : -10 }, false);
  }, [cursor, data, shapeKey]);

  const at = cursor === null ? -1 : nearestIndex(x, cursor);
  const position = (value: number) =>
    axis === "time" ? moment(value) : `${props.axisName ?? ""} ${count(Math.round(value))}`.trim();
  const valueAt = (one: ChartSeries) => {
    const value = one.values[at];
    return isKnown(value) ? props.format(value) : UNKNOWN;
  };
  const first = x[0] ?? 0;
  const last = x[x.length - 1] ?? 0;
  const spoken = useMemo(
    () => summary(title, `${position(first)} to ${position(last)}`, series, props.format),
    [title, x, series],
  );
  const onKey = (event: KeyboardEvent) => {
    const jump = Math.max(1, Math.round(x.length / 10));
    const step = { ArrowRight: 1, ArrowLeft: -1, PageUp: jump, PageDown: -jump }[event.key];
    const end = { Home: 0, End: x.length - 1 }[event.key];
    if (step !== undefined || end !== undefined) {
      const next = end ?? (at < 0 ? 0 : at + (step ?? 0));
      moveTo(x[Math.min(Math.max(next, 0), x.length - 1)] ?? null);
    } else if (event.key === "Enter" && at >= 0) props.onPick?.(x[at] as number);
    else if (event.key === "Escape" && cursor !== null) moveTo(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className="chart">
      <div className="chart-head">
        <h3>{title}</h3>
        {(series.length > 1 || at >= 0) &&
          series.map((one, index) => (
            <span key={one.label} className="chart-legend">
              {series.length > 1 && <Swatch color={colorOf(one, index)} />}
              {series.length > 1 && one.label}
              {at >= 0 && (shape !== "bars" || isKnown(one.values[at])) && <b>{valueAt(one)}</b>}
            </span>
          ))}
        <span className="grow" />
        {at >= 0 ? <span className="num">{position(x[at] as number)}</span> : props.note}
      </div>
      <div
        ref={host}
        className={props.onPick ? "chart-plot picks" : "chart-plot"}
        role="slider"
        tabIndex={0}
        aria-label={title}
        aria-describedby={id}
        aria-valuemin={first}
        aria-valuemax={last}
        aria-valuenow={at < 0 ? first : (x[at] as number)}
        aria-valuetext={
          at < 0
            ? "no cursor"
            : `${position(x[at] as number)}: ${series.map((s) => `${s.label} ${valueAt(s)}`).join(", ")}`
        }
        onKeyDown={onKey}
      />
      <p id={id} className="visually-hidden">
        {spoken}
      </p>
    </div>
  );
}
