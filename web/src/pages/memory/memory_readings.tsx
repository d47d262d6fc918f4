// SPDX-License-Identifier: Apache-2.0
// Memory in use as the driver tells it: of all programs on the GPU, not only of this one.
import { useMemo } from "react";
import { useApi } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { SeriesPicture } from "../../api/types";
import { bytes, percent } from "../../base/format";
import { Chart } from "../../widgets/chart";
import { Copyable, Panel } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import type { ChartCursor } from "../cursor";
import { lineOfReadings, usedSeries } from "./memory_data";

export function MemoryReadings({ session, shared }: { session: string; shared: ChartCursor }) {
  const tracks = useApi(sessionPath(session, "/tracks"));
  return (
    <Panel
      title="Memory in use on the GPU"
      note="as the driver reports it, of all programs together"
    >
      <Ready of={tracks} rows={4}>
        {({ series }) => {
          const used = usedSeries(series);
          return used.length === 0 ? (
            <NoReadings />
          ) : (
            <Charts session={session} used={used} shared={shared} />
          );
        }}
      </Ready>
    </Panel>
  );
}

function Charts({
  session,
  used,
  shared,
}: {
  session: string;
  used: { id: string; device: number }[];
  shared: ChartCursor;
}) {
  const path = sessionPath(session, "/series");
  const read = useApi(path, { series: used.map(({ id }) => id).join(","), width: 800 });
  const health = useApi(sessionPath(session, "/health"));
  return (
    <Ready of={read} rows={4}>
      {({ series }) => (
        <div className="memory-charts">
          {used.map(({ id, device }) => {
            const readings = series.find((one) => one.id === id);
            const facts = health.data?.devices.find((one) => one.device === device);
            return (
              readings && (
                <Used
                  key={id}
                  title={facts ? `GPU ${device}, ${facts.name}` : `GPU ${device}`}
                  readings={readings}
                  capacity={facts?.memory_bytes}
                  shared={shared}
                />
              )
            );
          })}
        </div>
      )}
    </Ready>
  );
}

function Used({
  title,
  readings,
  capacity,
  shared,
}: {
  title: string;
  readings: SeriesPicture;
  capacity: number | undefined;
  shared: ChartCursor;
}) {
  const line = useMemo(() => lineOfReadings(readings), [readings]);
  const series = useMemo(
    () => [{ label: "in use", values: line.values, low: line.low, high: line.high }],
    [line],
  );
  const peak = line.high.reduce((most, value) => Math.max(most, value), 0);
  return (
    <Chart
      title={title}
      x={line.x}
      series={series}
      format={bytes}
      isBinary
      height={150}
      {...shared}
      {...(capacity === undefined ? {} : { maxValue: capacity })}
      note={
        <span className="faint num">
          at most {bytes(peak)}
          {capacity !== undefined && ` of ${bytes(capacity)} (${percent(peak / capacity)})`}
        </span>
      }
    />
  );
}

function NoReadings() {
  return (
    <Empty title="The session has no readings of GPU memory">
      <p>To read memory, clocks and power ten times a second while a program runs:</p>
      <p>
        <code>
          <Copyable text="gpufl trace -i 100ms -- python train.py" />
        </code>
      </p>
    </Empty>
  );
}
