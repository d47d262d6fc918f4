// SPDX-License-Identifier: Apache-2.0
import type { WarpChange } from "../../api/types";
import { duration } from "../../base/format";
import { Panel } from "../../widgets/parts";
import { type Column, DataTable } from "../../widgets/table";

const WARP_COLUMNS: Column<WarpChange>[] = [
  { key: "kernel", title: "Kernel", value: ({ kernel }) => kernel, width: "minmax(160px, 2fr)" },
  { key: "group", title: "Group", value: ({ group }) => group },
  { key: "event", title: "Event", value: ({ event }) => event },
  {
    key: "a",
    title: "A",
    value: (row) => row.mean_a_ns,
    cell: (row) => duration(row.mean_a_ns),
    isNumber: true,
  },
  {
    key: "b",
    title: "B",
    value: (row) => row.mean_b_ns,
    cell: (row) => duration(row.mean_b_ns),
    isNumber: true,
  },
  {
    key: "noise",
    title: "Noise",
    value: (row) => row.noise_ns,
    cell: (row) => `± ${duration(row.noise_ns)}`,
    isNumber: true,
  },
  {
    key: "verdict",
    title: "Verdict",
    value: (row) => (row.is_beyond_noise ? "differs" : "within the noise"),
  },
];

export function WarpTable({ warps }: { warps: WarpChange[] }) {
  return (
    <Panel title="Inside kernels" note="means of events that warpscope recorded">
      <DataTable name="warps" rows={warps} columns={WARP_COLUMNS} rowKey={(_, i) => String(i)} />
    </Panel>
  );
}
