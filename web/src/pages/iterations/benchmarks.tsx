// SPDX-License-Identifier: Apache-2.0
// Benchmark scopes: figures of one round, warm-up rounds left out.
import { useSection } from "../../api/hooks";
import type { Scope } from "../../api/types";
import { count } from "../../base/format";
import { Panel } from "../../widgets/parts";
import { type Column, DataTable } from "../../widgets/table";
import { timeCell } from "../../widgets/time_cell";
import { sessionAddress } from "../session_frame";

function gpuTime({ iteration_gpu_ns: time }: Scope): number | null {
  return typeof time === "number" ? time : null;
}

const COLUMNS: Column<Scope>[] = [
  { key: "path", title: "Scope", value: ({ path }) => path, width: "minmax(200px, 3fr)" },
  {
    key: "rounds",
    title: "Rounds",
    value: ({ iteration_ns }) => iteration_ns?.count ?? null,
    cell: ({ iteration_ns }) => count(iteration_ns?.count),
    isNumber: true,
  },
  {
    key: "warmup",
    title: "Warm-up rounds",
    value: ({ warmup }) => warmup ?? null,
    cell: ({ warmup }) => count(warmup),
    isNumber: true,
  },
  ...(["mean", "min", "max"] as const).map((key) => ({
    key,
    savedAs: `${key}_ns`,
    title: { mean: "One round, mean", min: "Fastest", max: "Slowest" }[key],
    value: ({ iteration_ns }: Scope) => iteration_ns?.[key] ?? null,
    cell: ({ iteration_ns }: Scope) => timeCell(iteration_ns?.[key]),
    isNumber: true,
  })),
  {
    key: "gpu",
    savedAs: "gpu_ns",
    title: "GPU time of a round",
    value: gpuTime,
    cell: (scope) => {
      const time = gpuTime(scope);
      const why =
        typeof scope.iteration_gpu_ns === "object" ? scope.iteration_gpu_ns.unknown : undefined;
      return timeCell(time, time === null ? why : undefined);
    },
    isNumber: true,
  },
];

export function BenchmarkScopes({ session }: { session: string }) {
  const scopes = useSection(session, "scopes").data;
  const found = scopes?.filter(({ iteration_ns }) => iteration_ns) ?? [];
  if (found.length === 0) return null;
  return (
    <Panel title="Benchmark scopes" note="figures of one round; click one to see the scope">
      <DataTable
        rows={found}
        columns={COLUMNS}
        rowKey={({ path }) => path}
        name="benchmark-scopes"
        sortedBy="mean"
        addressOf={({ path }) =>
          sessionAddress(session, `scopes?scope=${encodeURIComponent(path)}`)
        }
      />
    </Panel>
  );
}
