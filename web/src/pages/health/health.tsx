// SPDX-License-Identifier: Apache-2.0
// Readings of GPUs and the host over the run, under one cursor.
import { useMemo } from "react";
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { Health, HealthMetric, Metric } from "../../api/types";
import { currentName, formatOf } from "../../base/metrics";
import { Panel } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { type ChartCursor, CursorBar, useCursor } from "../cursor";
import { toolName, useImportedFrom } from "../imported";
import { ClockLimits } from "./clock_limits";
import { EventsPanel, HealthFacts, ReadingTable } from "./health_panels";
import { ReadingChart } from "./reading_chart";
import { type ChartGroup, GPU_CHARTS, HOST_CHARTS, otherCharts, readingsOf } from "./readings";
import "./health.css";

const WIDTH = 640;
// Around the cursor, of the whole time.
const AROUND = 0.02;

function limitNote(group: ChartGroup, { devices }: Health): string | undefined {
  const [first] = devices;
  if (!first) return undefined;
  const { power_limit_mw, slowdown_temperature_c, memory_bytes } = first;
  if (group.title === "Power" && power_limit_mw !== undefined) {
    return `limit ${formatOf("power_mw")(power_limit_mw)}`;
  }
  if (group.title === "Temperature" && slowdown_temperature_c !== undefined) {
    return `slows down at ${slowdown_temperature_c} °C`;
  }
  if (group.title === "Memory in use" && memory_bytes !== undefined) {
    return `of ${formatOf("memory_bytes")(memory_bytes)}`;
  }
  return undefined;
}

function Charts({
  session,
  health,
  metrics,
  shared,
}: {
  session: string;
  health: Health;
  metrics: Metric[] | undefined;
  shared: ChartCursor;
}) {
  const loaded = useApi(sessionPath(session, "/series"), { width: WIDTH });
  const byId = useMemo(
    () => new Map((loaded.data?.series ?? []).map((series) => [series.id, series])),
    [loaded.data],
  );
  const span = health.span ?? [0, 0];
  const gpus = health.metrics.filter(({ kind }) => kind === "device_metric");
  const host = health.metrics.filter(({ kind }) => kind === "host_metric");
  const devices = new Set(gpus.map(({ device }) => device)).size;
  const limits = gpus.filter(({ metric }) => currentName(metric) === "clock_limits_bits");
  const chartsOf = (groups: ChartGroup[], readings: HealthMetric[]) =>
    groups.flatMap((group) => {
      const found = readingsOf(group, readings, devices);
      if (found.length === 0) return [];
      return [
        <ReadingChart
          key={group.title}
          group={group}
          readings={found}
          series={byId}
          hasManyDevices={devices > 1}
          span={span}
          shared={shared}
          mark={group.title === "Power" ? health.devices[0]?.power_limit_mw : undefined}
          note={limitNote(group, health)}
        />,
      ];
    });
  const strips = limits.flatMap(({ id, device, values }) => {
    const series = byId.get(id);
    if (!series) return [];
    const counted = metrics?.find((one) => one.device === device && one.bit_samples);
    return [
      <ClockLimits
        key={id}
        title={
          devices > 1 ? `GPU ${device}: what held the clocks back` : "What held the clocks back"
        }
        series={series}
        bitSamples={counted?.bit_samples}
        samples={counted?.values.count ?? values.count}
        span={span}
        cursor={shared.cursor}
      />,
    ];
  });
  const [power = [], ...others] = [...GPU_CHARTS, ...otherCharts(gpus)].map((g) =>
    chartsOf([g], gpus),
  );
  const [clocks = [], ...rest] = others;
  const gpuCharts = [...power, ...clocks, ...strips, ...rest.flat()];
  const hostCharts = chartsOf([...HOST_CHARTS, ...otherCharts(host)], host);
  return (
    <Ready of={loaded} rows={8}>
      {() => (
        <>
          {gpuCharts.length > 0 && (
            <Panel
              title={devices > 1 ? "GPUs" : "GPU"}
              note={health.devices.map(({ device, name }) => `${device}: ${name}`).join(", ")}
            >
              <div className="health-charts">{gpuCharts}</div>
            </Panel>
          )}
          {hostCharts.length > 0 && (
            <Panel title="Host">
              <div className="health-charts">{hostCharts}</div>
            </Panel>
          )}
        </>
      )}
    </Ready>
  );
}

function Found({ session, health }: { session: string; health: Health }) {
  const metrics = useSection(session, "metrics").data;
  const cursor = useCursor(session);
  const [from, to] = health.span ?? [0, 0];
  const tool = useImportedFrom(session);
  if (health.metrics.length === 0) {
    return (
      <>
        <Panel>
          <Empty title="Nothing was sampled while this session was recorded">
            {typeof tool === "string" && (
              <p>
                It was imported from {toolName(tool)}, whose trace has no readings of GPUs. To have
                them, record the program itself:
              </p>
            )}
            <p>
              <code>gpufl trace --interval 100ms -- python train.py</code> samples the GPU and the
              host beside the program&apos;s work; <code>gpufl monitor</code> records the health of
              every GPU.
            </p>
          </Empty>
        </Panel>
        {health.events.length > 0 && <EventsPanel session={session} health={health} />}
      </>
    );
  }
  return (
    <>
      <HealthFacts health={health} metrics={metrics} />
      <EventsPanel session={session} health={health} />
      <CursorBar session={session} cursor={cursor} around={(to - from) * AROUND} />
      <Charts session={session} health={health} metrics={metrics} shared={cursor.chart} />
      <ReadingTable readings={health.metrics} />
    </>
  );
}

export default function HealthPage({ session }: { session: string }) {
  const health = useApi(sessionPath(session, "/health"));
  return (
    <Ready of={health} rows={10}>
      {(data) => <Found session={session} health={data} />}
    </Ready>
  );
}
