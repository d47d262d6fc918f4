// SPDX-License-Identifier: Apache-2.0
// What the program allocates, what is in use on the GPU, and what to do about it.
import { useMemo } from "react";
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { MemoryUsage, Unknown } from "../../api/types";
import {
  bytes,
  bytesQuantity,
  count,
  duration,
  isUnknown,
  moment,
  plain,
  sentence,
  timeQuantity,
} from "../../base/format";
import { Chart } from "../../widgets/chart";
import { Copyable, Facts, Panel } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { type Column, DataTable } from "../../widgets/table";
import { type ChartCursor, CursorBar, useCursor } from "../cursor";
import { toolName, useImportedFrom } from "../imported";
import { WithCode } from "../kernels/with_code";
import type { SessionPageProps } from "../session_frame";
import {
  callTime,
  deviceName,
  kindName,
  leftText,
  lineOfPoints,
  noCallTime,
  usedSeries,
} from "./memory_data";
import { MemoryAdvice } from "./memory_advice";
import { MemoryReadings } from "./memory_readings";
import "./memory.css";

export default function Memory({ session }: SessionPageProps) {
  const memory = useSection(session, "memory");
  const tracks = useApi(sessionPath(session, "/tracks")).data;
  const [from, to] = tracks?.span ?? [0, 0];
  const hasReadings = usedSeries(tracks?.series ?? []).length > 0;
  const cursor = useCursor(session);
  const bar = <CursorBar session={session} cursor={cursor} around={(to - from) * AROUND} />;
  const readings = <MemoryReadings session={session} shared={cursor.chart} />;
  return (
    <Ready of={memory} rows={5}>
      {(section) =>
        isUnknown(section) || section.length === 0 ? (
          <>
            <MemoryAdvice session={session} />
            {hasReadings && bar}
            {readings}
            <Panel title="Allocations">
              {isUnknown(section) ? (
                <NotRecorded session={session} why={section} />
              ) : (
                <NothingAllocated />
              )}
            </Panel>
          </>
        ) : (
          <>
            <MemoryFacts uses={section} />
            <MemoryAdvice session={session} />
            {bar}
            <Allocations uses={section} shared={cursor.chart} />
            {readings}
          </>
        )
      }
    </Ready>
  );
}

function NotRecorded({ session, why }: { session: string; why: Unknown }) {
  const command = "gpufl trace --memory -- python train.py";
  const tool = useImportedFrom(session);
  return (
    <Empty title={sentence(why.unknown).replace(/\.$/, "")}>
      {typeof tool === "string" && (
        <p>
          It was imported from {toolName(tool)}.{" "}
          <WithCode
            text={sentence(
              why.hint ??
                "To see who allocates how much, record the program itself with `gpufl trace --memory`",
            )}
          />
        </p>
      )}
      {tool === null && why.hint !== undefined && (
        <>
          <p>To see who allocates how much, and what is never released, record with</p>
          <p>
            <code>
              <Copyable text={command} />
            </code>
          </p>
        </>
      )}
    </Empty>
  );
}

function NothingAllocated() {
  return (
    <Empty title="The program allocated nothing while it was recorded">
      What it allocated before the recording began is not here.
    </Empty>
  );
}

// Around the cursor, of the whole time.
const AROUND = 0.01;

function MemoryFacts({ uses }: { uses: MemoryUsage[] }) {
  const biggest = uses.reduce((a, b) => (b.peak_bytes > a.peak_bytes ? b : a));
  const peak = bytesQuantity(biggest.peak_bytes);
  const left = leftText(biggest);
  const end = bytesQuantity(biggest.end_bytes);
  const calls = timeQuantity(callTime(uses));
  const number = uses.reduce((sum, use) => sum + use.allocations, 0);
  const releases = uses.reduce((sum, use) => sum + use.releases, 0);
  const rate = uses.reduce((sum, use) => sum + use.allocations_per_second, 0);
  return (
    <Facts
      of={[
        {
          label: `Peak, ${deviceName(biggest.device)}`,
          value: peak.value,
          unit: `${peak.unit} after ${moment(biggest.peak_ns)}`,
          hint: kindName(biggest.kind),
        },
        { label: "At the end", value: end.value, unit: end.unit, hint: left ?? undefined },
        { label: "Allocations", value: count(number), unit: `${plain(rate, 3)} per second` },
        { label: "Releases", value: count(releases) },
        {
          label: "Time in these calls",
          value: calls.value,
          unit: calls.unit,
          hint: noCallTime(uses) ?? "Of all host threads together",
        },
      ]}
    />
  );
}

function Allocations({ uses, shared }: { uses: MemoryUsage[]; shared: ChartCursor }) {
  const left = uses.map(leftText).find((text) => text !== null);
  return (
    <>
      <Panel title="Allocated over time">
        <div className="memory-charts">
          {uses.map((use) => (
            <LiveBytes key={`${use.device} ${use.kind}`} use={use} shared={shared} />
          ))}
        </div>
      </Panel>
      <Panel title="By GPU and kind" note={left}>
        <DataTable
          name="memory"
          rows={uses}
          columns={COLUMNS}
          rowKey={({ device, kind }) => `${device} ${kind}`}
          sortedBy="peak_bytes"
        />
      </Panel>
    </>
  );
}

function LiveBytes({ use, shared }: { use: MemoryUsage; shared: ChartCursor }) {
  const line = useMemo(() => lineOfPoints(use.live_bytes.points), [use]);
  const series = useMemo(
    () => [{ label: "allocated", values: line.values, low: line.low, high: line.high }],
    [line],
  );
  return (
    <Chart
      title={`${kindName(use.kind)}, ${deviceName(use.device)}`}
      x={line.x}
      series={series}
      format={bytes}
      isBinary
      height={150}
      note={<span className="faint">band: least and most in each step</span>}
      {...shared}
    />
  );
}

const COLUMNS: Column<MemoryUsage>[] = [
  {
    key: "device",
    title: "GPU",
    value: (use) => use.device,
    cell: (use) => deviceName(use.device),
    width: "minmax(70px, 1fr)",
  },
  {
    key: "kind",
    title: "Kind",
    value: (use) => kindName(use.kind),
    width: "minmax(150px, 2fr)",
  },
  number("peak_bytes", "Peak", (use) => use.peak_bytes, bytes),
  number("peak_ns", "Peak after", (use) => use.peak_ns, moment),
  number("end_bytes", "At the end", (use) => use.end_bytes, bytes, "Allocated and never released"),
  number("end_allocations", "Left", (use) => use.end_allocations, count, "Allocations at the end"),
  number("allocated_bytes", "Allocated, total", (use) => use.allocated_bytes, bytes),
  number("allocations", "Allocations", (use) => use.allocations, count),
  number(
    "allocations_per_second",
    "Per second",
    (use) => use.allocations_per_second,
    (v) => plain(v, 3),
  ),
  number("releases", "Releases", (use) => use.releases, count),
  number(
    "unmatched_releases",
    "Unmatched",
    (use) => use.unmatched_releases,
    count,
    "Releases of what was allocated before the recording",
  ),
  {
    ...number("call_ns", "In calls", (use) => callTime([use]), duration, "Time of the calls"),
    cell: (use) => <span title={noCallTime([use])}>{duration(callTime([use]))}</span>,
  },
];

function number(
  key: string,
  title: string,
  value: (use: MemoryUsage) => number | null,
  format: (value: number | null) => string,
  hint?: string,
): Column<MemoryUsage> {
  return {
    key,
    title,
    value,
    cell: (use) => format(value(use)),
    isNumber: true,
    width: "minmax(96px, 1fr)",
    ...(hint === undefined ? {} : { hint }),
  };
}
