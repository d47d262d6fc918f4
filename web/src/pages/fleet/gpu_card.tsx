// SPDX-License-Identifier: Apache-2.0
// One GPU: how busy it was during the last hour, its power and its memory.
import { useApi } from "../../api/hooks";
import { pathOf } from "../../api/paths";
import type { Device } from "../../api/types";
import { plain, UNKNOWN, wallTime } from "../../base/format";
import { formatOf, wordsOf } from "../../base/metrics";
import { type Line, lineOf, pathOfLine } from "./fleet_data";

const WIDTH = 240;
const HEIGHT = 30;
const POINTS = 120;
const EVERY_MS = 15_000;
const UTIL = "gpu_util_pct";
const OTHERS = ["power_mw", "memory_used_bytes"] as const;
const METRICS = [UTIL, ...OTHERS, "temperature_c"].join(",");

function Sparkline({ line, words }: { line: Line | null; words: string }) {
  if (!line) return <span className="gpu-line faint">no {words}</span>;
  return (
    <svg
      className="gpu-line"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${words} during the last hour`}
    >
      <path d={pathOfLine(line, WIDTH, HEIGHT)} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}

export function GpuCard({ device, isSilent }: { device: Device; isSilent: boolean }) {
  const { data, error } = useApi(
    pathOf("/devices/{}/health", device.id ?? ""),
    { points: POINTS, metrics: METRICS },
    { everyMs: EVERY_MS },
  );
  const util = data ? lineOf(data, UTIL, 100) : null;
  const temperature = data ? lineOf(data, "temperature_c") : null;
  const shown = (line: Line | null, metric: string) =>
    line?.latest == null || isSilent ? UNKNOWN : formatOf(metric)(line.latest);
  return (
    <a
      className={isSilent ? "gpu silent" : "gpu"}
      href={`#/sessions?host=${encodeURIComponent(device.host)}`}
      title={`${device.uuid ?? ""}\nSessions of ${device.host}`}
    >
      <header>
        <b>{device.name}</b>
        <span className="faint">{device.device === undefined ? "" : `GPU ${device.device}`}</span>
      </header>
      <span className="gpu-util num">
        {util?.latest == null || isSilent ? UNKNOWN : plain(Math.round(util.latest))}
        <small>%</small>
      </span>
      {error ? (
        <span className="gpu-line faint">{error.message}</span>
      ) : (
        <Sparkline line={util} words={wordsOf(UTIL)} />
      )}
      <div className="gpu-others">
        {OTHERS.map((metric) => {
          const line = data ? lineOf(data, metric) : null;
          return (
            <span key={metric}>
              <span className="num">{shown(line, metric)}</span>
              <Sparkline line={line} words={wordsOf(metric)} />
            </span>
          );
        })}
      </div>
      <footer className="faint num">
        {isSilent
          ? `last reading ${wallTime(device.last_reading_wall_ns)}`
          : shown(temperature, "temperature_c")}
      </footer>
    </a>
  );
}
