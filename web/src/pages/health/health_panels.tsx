// SPDX-License-Identifier: Apache-2.0
// Health in figures: the six that matter, errors and events, and all readings.
import type { Health, HealthMetric, Metric } from "../../api/types";
import { count, moment, percent, plural, UNKNOWN } from "../../base/format";
import { currentName, formatOf, limitName, wordsOf } from "../../base/metrics";
import { Badge, type FactProps, Facts, Panel } from "../../widgets/parts";
import { type Column, DataTable } from "../../widgets/table";
import { timelineAround } from "../cursor";
import { sessionHref } from "../session_frame";
import { errorsOf, mainLimit } from "./readings";

const AROUND_NS = 5_000_000;
const BAD_EVENTS = new Set(["xid", "device_lost"]);

function most(readings: HealthMetric[], name: string, key: "min" | "max"): number | null {
  const values = readings
    .filter(({ metric }) => currentName(metric) === name)
    .map(({ values: { [key]: value } }) => value);
  if (values.length === 0) return null;
  return key === "max" ? Math.max(...values) : Math.min(...values);
}

// "412 W" as a large number and a small unit.
function fact(
  label: string,
  name: string,
  value: number | null,
  rest = "",
  hint?: string,
): FactProps {
  if (value === null) return { label, value: UNKNOWN, hint: `${wordsOf(name)} was not sampled` };
  const [number = "", ...unit] = formatOf(name)(value).split(" ");
  return { label, value: number, unit: [unit.join(" "), rest].filter(Boolean).join(" "), hint };
}

// Of the GPU that was held back most.
function heldBack(metrics: Metric[] | undefined, wasSampled: boolean): FactProps {
  const label = "Clocks held back";
  if (!wasSampled)
    return { label, value: UNKNOWN, hint: "the reasons for lower clocks were not sampled" };
  if (!metrics) return { label, value: UNKNOWN, hint: "is being counted" };
  const [worst] = metrics
    .flatMap(({ values, bit_samples }) => {
      const main = mainLimit(bit_samples ?? []);
      return main ? [{ share: main.samples / values.count, name: limitName(main.bit) }] : [];
    })
    .sort((a, b) => b.share - a.share);
  if (!worst) return { label, value: "never" };
  return { label, value: percent(worst.share), unit: worst.name, hint: "Share of samples" };
}

export function HealthFacts({
  health,
  metrics,
}: {
  health: Health;
  metrics: Metric[] | undefined;
}) {
  const gpus = health.metrics.filter(({ kind }) => kind === "device_metric");
  const [device] = health.devices;
  const limit = device?.power_limit_mw;
  const top = device?.max_compute_clock_mhz;
  const slowdown = device?.slowdown_temperature_c;
  const power = most(gpus, "power_mw", "max");
  const instant = most(gpus, "power_instant_mw", "max");
  const slowest = most(gpus, "compute_clock_mhz", "min");
  const lowest = slowest === null ? UNKNOWN : formatOf("compute_clock_mhz")(slowest);
  const used = gpus
    .filter(({ metric }) => metric === "energy_mj")
    .reduce<number | null>((sum, { values: { min, max } }) => (sum ?? 0) + max - min, null);
  return (
    <Facts
      of={[
        fact(
          instant === null ? "Power, highest" : "Power, highest average",
          "power_mw",
          power,
          limit === undefined ? "" : `of ${formatOf("power_mw")(limit)}`,
          [
            "An average over one second on GPUs since Ampere.",
            instant === null ? "" : `For a moment it was ${formatOf("power_mw")(instant)}.`,
          ].join(" "),
        ),
        fact(
          "Temperature, highest",
          "temperature_c",
          most(gpus, "temperature_c", "max"),
          "",
          slowdown === undefined ? undefined : `The GPU slows down at ${slowdown} °C`,
        ),
        fact(
          "Clock, highest",
          "compute_clock_mhz",
          most(gpus, "compute_clock_mhz", "max"),
          top === undefined ? "" : `of ${count(top)}`,
          `Of the compute units. The lowest was ${lowest}: idle GPUs lower it, too`,
        ),
        heldBack(
          metrics,
          gpus.some(({ metric }) => currentName(metric) === "clock_limits_bits"),
        ),
        fact("GPU memory, highest", "memory_used_bytes", most(gpus, "memory_used_bytes", "max")),
        fact("Energy", "energy_mj", used, "", "Used by all GPUs from the first sample to the last"),
      ]}
    />
  );
}

function isGrown({ values: { min, max } }: HealthMetric): boolean {
  return max > min;
}

export function EventsPanel({ session, health }: { session: string; health: Health }) {
  const errors = errorsOf(health.metrics);
  const counted = errors.filter(({ last }) => last > 0);
  const grown = counted.filter(isGrown).length;
  const bad = health.events.filter(({ name }) => BAD_EVENTS.has(name)).length;
  return (
    <Panel
      title="Errors and events"
      actions={
        bad + grown > 0 ? (
          <Badge tone="bad">{plural(bad + grown, "problem")}</Badge>
        ) : errors.length > 0 ? (
          <Badge tone="good">No errors in this session</Badge>
        ) : undefined
      }
    >
      <ul className="health-events">
        {health.events.map(({ time, name, device, code, text }, i) => (
          <li key={i}>
            <a className="num" href={sessionHref(session, timelineAround(time, AROUND_NS))}>
              {moment(time)}
            </a>
            {BAD_EVENTS.has(name) ? (
              <Badge tone="bad">{name === "xid" ? `Xid ${code ?? ""}` : wordsOf(name)}</Badge>
            ) : (
              <span>{wordsOf(name).replace(/^cuda\b/, "CUDA")}</span>
            )}
            <span className="dim">
              {device === undefined ? "" : `GPU ${device} · `}
              {text}
            </span>
          </li>
        ))}
        {health.events_left_out > 0 && (
          <li className="faint">{plural(health.events_left_out, "more event")} in the log</li>
        )}
        {counted.map((reading) => {
          const { id, metric, device, index, last } = reading;
          return (
            <li key={id}>
              <span />
              <Badge tone={isGrown(reading) ? "warn" : "plain"}>{count(last)}</Badge>
              <span>
                {wordsOf(metric)}
                <span className="dim">
                  {" "}
                  · GPU {device}
                  {index > 0 ? `, ${index}` : ""}
                  {isGrown(reading) ? "" : " · counted before this session, none during it"}
                </span>
              </span>
            </li>
          );
        })}
        {counted.length === 0 && errors.length > 0 && (
          <li className="dim whole">
            All {count(errors.length)} error counters of the GPUs are zero: ECC, remapped rows,
            packets sent again.
          </li>
        )}
        {errors.length === 0 && health.events.length === 0 && (
          <li className="dim whole">Neither events nor error counters were recorded.</li>
        )}
      </ul>
    </Panel>
  );
}

const COLUMNS: Column<HealthMetric>[] = [
  {
    key: "where",
    title: "Where",
    value: ({ device }) => (device === null ? "host" : `GPU ${device}`),
    width: "96px",
  },
  {
    key: "reading",
    title: "Reading",
    value: ({ metric, index }) => `${wordsOf(metric)}${index > 0 ? ` ${index}` : ""}`,
    width: "minmax(180px, 2fr)",
  },
  {
    key: "metric",
    title: "Metric",
    value: ({ metric }) => metric,
    cell: ({ metric }) => <span className="mono dim">{metric}</span>,
    width: "minmax(200px, 2fr)",
  },
  ...(["min", "mean", "max"] as const).map((key) => ({
    key,
    title: { min: "Lowest", mean: "Mean", max: "Highest" }[key],
    value: ({ values }: HealthMetric) => values[key],
    cell: ({ metric, values }: HealthMetric) => {
      const value = values[key];
      const hasMean = key !== "mean" || !metric.endsWith("_bits");
      return !hasMean ? UNKNOWN : formatOf(metric)(value);
    },
    isNumber: true,
    width: "minmax(96px, 1fr)",
  })),
  {
    key: "last",
    title: "Last",
    value: ({ last }) => last,
    cell: ({ metric, last }) => formatOf(metric)(last),
    isNumber: true,
    width: "minmax(96px, 1fr)",
  },
  {
    key: "samples",
    title: "Samples",
    value: ({ values }) => values.count,
    cell: ({ values }) => count(values.count),
    isNumber: true,
    width: "86px",
  },
];

export function ReadingTable({ readings }: { readings: HealthMetric[] }) {
  return (
    <Panel title="All readings" note={`${count(readings.length)} series`}>
      <DataTable
        rows={readings}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        name="readings"
        sortedBy="where"
        isAscending
      />
    </Panel>
  );
}
