// SPDX-License-Identifier: Apache-2.0
// How busy each GPU was over time, in one strip that leads to the timeline.
import type { DeviceTime, GpuTime } from "../../api/types";
import { duration, isUnknown, moment, percent } from "../../base/format";
import { Panel } from "../../widgets/parts";
import { sessionHref } from "../session_frame";

const HEIGHT = 36;

function Strip({ session, device }: { session: string; device: DeviceTime }) {
  const series = device.busy_series;
  if (isUnknown(series) || series.points.length === 0) return null;
  const { points, step_ns } = series;
  const first = points[0]![0];
  const last = points[points.length - 1]![0] + step_ns;
  const whole = Math.max(last - first, 1);
  const area = points
    .map(([at, , mean]) => {
      const x = ((at - first) / whole) * 1000;
      // Little work is still not none.
      const y = HEIGHT - (mean > 0 ? Math.max(mean * HEIGHT, 1.5) : 0);
      return `M${x.toFixed(1)} ${HEIGHT}V${y.toFixed(2)}h${((step_ns / whole) * 1000 + 0.2).toFixed(2)}V${HEIGHT}z`;
    })
    .join("");
  const share = typeof device.busy_share === "number" ? percent(device.busy_share) : "";
  return (
    <a
      className="activity-row"
      href={sessionHref(session, "timeline")}
      title={`GPU ${device.device}: busy ${share}, from ${moment(first)} to ${moment(last)}`}
    >
      <span>
        <b>GPU {device.device}</b> <span className="faint">{device.name}</span>
      </span>
      <svg viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none" role="img">
        <title>{`Busy share of GPU ${device.device} over time`}</title>
        <rect width="1000" height={HEIGHT} className="activity-idle" />
        <path d={area} className="activity-busy" />
      </svg>
      <span className="num">{share}</span>
    </a>
  );
}

export function Activity({ session, gpu }: { session: string; gpu: GpuTime }) {
  const shown = gpu.devices.filter(
    ({ busy_series, busy_ns }) =>
      !isUnknown(busy_series) && busy_series.points.length > 0 && busy_ns !== 0,
  );
  if (shown.length === 0) return null;
  const recorded = typeof gpu.recorded_ns === "number" ? gpu.recorded_ns : null;
  return (
    <Panel
      title="GPU activity"
      note={recorded === null ? undefined : `busy share over ${duration(recorded)}`}
      actions={
        <a className="btn" href={sessionHref(session, "timeline")}>
          Open the timeline
        </a>
      }
    >
      <div className="activity">
        {shown.map((device) => (
          <Strip key={device.device} session={session} device={device} />
        ))}
      </div>
    </Panel>
  );
}
