// SPDX-License-Identifier: Apache-2.0
// What the program counted itself, how fast it grew, and hardware counters of kernels, of ranges and
// over time where there are any.
import { useMemo } from "react";
import { useSection } from "../../api/hooks";
import type { CountedRange, Counter, SampledCounter, SampledKernel } from "../../api/types";
import { setViewParameters, useViewParameter } from "../../base/address";
import { count, isUnknown, plain, plural, UNKNOWN } from "../../base/format";
import { hardwareValue } from "../../base/metrics";
import { Chart } from "../../widgets/chart";
import { Panel } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { type Column, DataTable } from "../../widgets/table";
import { type ChartCursor, CursorBar, useCursor } from "../cursor";
import { sessionAddress } from "../session_frame";
import {
  type KernelCounter,
  kernelCounters,
  type RangeCounter,
  rangeCounters,
  rateColumns,
  seriesColumns,
} from "./rates";
import { RooflinePanel } from "./roofline";
import { RooflineLesson } from "./roofline_lesson";
import "./counters.css";

const CHARTS = 12;
// Around a picked time, of a step of the rate.
const AROUND_STEPS = 5;

function perSecond(value: number): string {
  return `${plain(value)}/s`;
}

const COLUMNS: Column<Counter>[] = [
  { key: "name", title: "Counter", value: ({ name }) => name, width: "minmax(180px, 3fr)" },
  {
    key: "increase",
    title: "Increase",
    value: ({ increase }) => increase,
    cell: ({ increase }) => count(increase),
    isNumber: true,
  },
  {
    key: "per_second",
    title: "Per second",
    value: ({ per_second }) => per_second,
    cell: ({ per_second }) =>
      per_second === null ? (
        <span title="It was read at one time only">{UNKNOWN}</span>
      ) : (
        perSecond(per_second)
      ),
    isNumber: true,
  },
  ...(["first", "last", "samples"] as const).map((key) => ({
    key,
    title: { first: "First", last: "Last", samples: "Samples" }[key],
    value: (counter: Counter) => counter[key],
    cell: (counter: Counter) => count(counter[key]),
    isNumber: true,
  })),
];

const KERNEL_COLUMNS: Column<KernelCounter>[] = [
  { key: "kernel", title: "Kernel", value: ({ kernel }) => kernel, width: "minmax(200px, 3fr)" },
  {
    key: "counter",
    title: "Counter",
    value: ({ counter }) => counter,
    width: "minmax(160px, 2fr)",
  },
  {
    key: "value",
    title: "Value",
    value: ({ value }) => value,
    cell: ({ value }) => count(value),
    isNumber: true,
  },
];

const RANGE_COLUMNS: Column<RangeCounter>[] = [
  { key: "range", title: "Range", value: ({ range }) => range, width: "minmax(160px, 2fr)" },
  { key: "metric", title: "Metric", value: ({ metric }) => metric, width: "minmax(240px, 3fr)" },
  ...(["mean", "min", "max"] as const).map((key) => ({
    key,
    title: { mean: "Mean", min: "Least", max: "Most" }[key],
    value: (counter: RangeCounter) => counter[key],
    cell: (counter: RangeCounter) => plain(counter[key], 6),
    isNumber: true,
  })),
  {
    key: "count",
    title: "Counted",
    value: ({ count: times }) => times,
    cell: ({ count: times }) => count(times),
    isNumber: true,
  },
];

function RateChart({ counter, shared }: { counter: Counter; shared: ChartCursor }) {
  const { x, series } = useMemo(() => {
    const { x: times, mean, low, high } = rateColumns(counter);
    return { x: times, series: [{ label: counter.name, values: mean, low, high }] };
  }, [counter]);
  return (
    <Chart
      title={counter.name}
      x={x}
      series={series}
      format={perSecond}
      height={128}
      {...shared}
      note={<span className="num">+{count(counter.increase)} in all</span>}
    />
  );
}

function UserCounters({ session, counters }: { session: string; counters: Counter[] }) {
  const cursor = useCursor(session);
  const [chosen] = useViewParameter("counter");
  const drawn =
    chosen === null ? counters.slice(0, CHARTS) : counters.filter(({ name }) => name === chosen);
  const around = AROUND_STEPS * Math.max(0, ...drawn.map(({ rate }) => rate.step_ns));
  if (counters.length === 0) {
    return (
      <Panel title="Counters of the program">
        <Empty title="The program counted nothing">
          <p>
            Count what matters to you, such as tokens or requests, and this page shows how fast it
            grows over the run:
          </p>
          <p>
            <code>gpufl.tick("tokens", n)</code> in Python, <code>gpufl::tick("tokens", n)</code> in
            C++
          </p>
        </Empty>
      </Panel>
    );
  }
  return (
    <>
      <Panel title="Counters of the program" note="click one to see it alone">
        <DataTable
          rows={counters}
          columns={COLUMNS}
          rowKey={({ name }) => name}
          name="counters"
          sortedBy="per_second"
          addressOf={({ name }) =>
            sessionAddress(session, `counters?counter=${encodeURIComponent(name)}`)
          }
          onOpen={({ name }) => setViewParameters({ counter: name === chosen ? null : name })}
          isSelected={({ name }) => name === chosen}
        />
      </Panel>
      <CursorBar session={session} cursor={cursor} around={around} />
      <Panel
        title="Growth in a second"
        note={
          chosen === null && counters.length > CHARTS
            ? `${CHARTS} of ${plural(counters.length, "counter")}`
            : undefined
        }
      >
        <div className="counter-charts">
          {drawn.map((counter) => (
            <RateChart key={counter.name} counter={counter} shared={cursor.chart} />
          ))}
        </div>
      </Panel>
    </>
  );
}

function CountersOfKernels({ session, samples }: { session: string; samples: SampledKernel[] }) {
  const rows = useMemo(() => kernelCounters(samples), [samples]);
  if (rows.length === 0) return null;
  return (
    <Panel title="Hardware counters of kernels" note="click one for the kernel">
      <DataTable
        rows={rows}
        columns={KERNEL_COLUMNS}
        rowKey={({ fullName, counter }) => `${fullName} ${counter}`}
        name="kernel-counters"
        sortedBy="value"
        addressOf={({ fullName }) =>
          sessionAddress(session, `kernels/${encodeURIComponent(fullName)}`)
        }
      />
    </Panel>
  );
}

function CountersOfRanges({ ranges }: { ranges: CountedRange[] }) {
  const rows = useMemo(() => rangeCounters(ranges), [ranges]);
  if (rows.length === 0) return null;
  return (
    <Panel title="Hardware counters of ranges" note="of one run of each range">
      <DataTable
        rows={rows}
        columns={RANGE_COLUMNS}
        rowKey={({ device, range, metric }) => `${device} ${range} ${metric}`}
        name="range-counters"
        sortedBy="range"
      />
    </Panel>
  );
}

function SampledChart({ counter, shared }: { counter: SampledCounter; shared: ChartCursor }) {
  const { x, series } = useMemo(() => {
    const { x: times, mean, low, high } = seriesColumns(counter.series);
    return { x: times, series: [{ label: counter.metric, values: mean, low, high }] };
  }, [counter]);
  return (
    <Chart
      title={`GPU ${counter.device}: ${counter.metric}`}
      x={x}
      series={series}
      format={(value) => hardwareValue(counter.metric, value)}
      height={128}
      {...shared}
      note={<span className="num">{plural(counter.values.count, "sample")}</span>}
    />
  );
}

function CountersOverTime(props: { session: string; counters: SampledCounter[] }) {
  const { session, counters } = props;
  const cursor = useCursor(session);
  if (counters.length === 0) return null;
  const around = AROUND_STEPS * Math.max(...counters.map(({ series }) => series.step_ns));
  return (
    <>
      <CursorBar session={session} cursor={cursor} around={around} />
      <Panel title="Hardware counters over time">
        <div className="counter-charts">
          {counters.map((counter) => (
            <SampledChart
              key={`${counter.device} ${counter.metric}`}
              counter={counter}
              shared={cursor.chart}
            />
          ))}
        </div>
      </Panel>
    </>
  );
}

export default function CountersPage({ session }: { session: string }) {
  const counters = useSection(session, "counters");
  const samples = useSection(session, "samples");
  const roofline = useSection(session, "roofline");
  const ranges = useSection(session, "ranges");
  const sampled = useSection(session, "sampled_counters");
  return (
    <>
      <Ready of={counters} rows={6}>
        {(data) => <UserCounters session={session} counters={data} />}
      </Ready>
      <Ready of={roofline} rows={3}>
        {(data) =>
          isUnknown(data) ? (
            <Panel title="Roofline" note="whether memory or arithmetic limits a kernel">
              <RooflineLesson why={data.unknown} />
            </Panel>
          ) : (
            <RooflinePanel roofline={data} />
          )
        }
      </Ready>
      <Ready of={ranges} rows={3}>
        {(data) => <CountersOfRanges ranges={data} />}
      </Ready>
      <Ready of={sampled} rows={3}>
        {(data) => <CountersOverTime session={session} counters={data} />}
      </Ready>
      <Ready of={samples} rows={3}>
        {(data) => <CountersOfKernels session={session} samples={data} />}
      </Ready>
    </>
  );
}
