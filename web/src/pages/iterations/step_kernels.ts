// SPDX-License-Identifier: Apache-2.0
// The kernels of a stretch of time, from what its tracks add up to.
import type { TrackSum } from "../../api/types";

export interface Used {
  label: string;
  name: string;
  count: number;
  busy_ns: number;
}

// A kernel that ran on several streams is one line.
export function kernelsIn(tracks: Pick<TrackSum, "id" | "names">[]): Used[] {
  const byName = new Map<string, Used>();
  for (const { id, names } of tracks) {
    if (!id.startsWith("kernels:")) continue;
    for (const { label, name = label, count: launches, busy_ns } of names) {
      const one = byName.get(name) ?? { label, name, count: 0, busy_ns: 0 };
      byName.set(name, { ...one, count: one.count + launches, busy_ns: one.busy_ns + busy_ns });
    }
  }
  return [...byName.values()].sort((a, b) => b.busy_ns - a.busy_ns);
}
