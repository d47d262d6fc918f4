// SPDX-License-Identifier: Apache-2.0
// What the page of GPUs shows, from what the server keeps of each.
import type { Device, DeviceHealth } from "../../api/types";

// Readings are packed half a minute behind what arrives.
const SILENT_NS = 180_000_000_000n;

export interface HostGroup {
  host: string;
  devices: Device[];
  isSilent: boolean;
}

// Of this workspace's devices those whose readings are kept, by host.
export function hostsOf(devices: Device[], nowMs: number): HostGroup[] {
  const byHost = new Map<string, Device[]>();
  for (const device of devices) {
    if (device.id === null) continue;
    byHost.set(device.host, [...(byHost.get(device.host) ?? []), device]);
  }
  return [...byHost].map(([host, list]) => ({
    host,
    devices: list,
    isSilent: list.every((device) => isSilent(device, nowMs)),
  }));
}

// By when something came, and not by the clock of its machine.
export function isSilent(device: Device, nowMs: number): boolean {
  if (device.last_seen_wall_ns === null) return true;
  return BigInt(Math.floor(nowMs)) * 1_000_000n - BigInt(device.last_seen_wall_ns) > SILENT_NS;
}

export interface Line {
  // Places from 0 to 1, those of a gap as null.
  points: { x: number; y: number | null }[];
  latest: number | null;
}

// The means of one metric over the last hour, as high as the largest of all, or as `most`.
export function lineOf(health: DeviceHealth, metric: string, most?: number): Line | null {
  const series = health.series.find((one) => one.metric === metric);
  if (!series || series.mean.length === 0) return null;
  const top = most ?? Math.max(...series.max, 1);
  const last = series.step.at(-1) ?? 0;
  const first = series.step[0] ?? 0;
  const points: Line["points"] = [];
  series.step.forEach((step, i) => {
    const x = last === first ? 1 : (step - first) / (last - first);
    if (i > 0 && step - (series.step[i - 1] ?? step) > 1) points.push({ x, y: null });
    points.push({ x, y: Math.min((series.mean[i] ?? 0) / top, 1) });
  });
  return { points, latest: series.mean.at(-1) ?? null };
}

// For the "d" of a path in a box of that size.
export function pathOfLine(line: Line, width: number, height: number): string {
  let isOpen = false;
  return line.points
    .flatMap(({ x, y }) => {
      if (y === null) {
        isOpen = false;
        return [];
      }
      const command = isOpen ? "L" : "M";
      isOpen = true;
      return `${command}${(x * width).toFixed(1)},${((1 - y) * (height - 2) + 1).toFixed(1)}`;
    })
    .join("");
}
