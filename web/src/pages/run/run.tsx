// SPDX-License-Identifier: Apache-2.0
// A run as a whole: what its ranks do unevenly, and each of them as a row.
import { useEffect } from "react";
import { useApi } from "../../api/hooks";
import { pathOf } from "../../api/paths";
import type { RunReport } from "../../api/types";
import { useSegments } from "../../base/address";
import { count, percent, plural, shownName, timeQuantity, wallTime } from "../../base/format";
import { classVariable } from "../../base/kernel_class";
import { FindButton } from "../../widgets/find_button";
import { Facts, Panel, Swatch } from "../../widgets/parts";
import { Failed, Ready, Skeleton } from "../../widgets/states";
import { type Column, DataTable } from "../../widgets/table";
import { timeCell } from "../../widgets/time_cell";
import { TopBar } from "../../widgets/top_bar";
import { InsightList } from "../overview/insight_list";
import { sessionAddress } from "../session_frame";
import { membersText, summarize } from "../sessions/session_rows";
import { type RankRow, rankRows, unevenOf } from "./run_data";
import "./run.css";

type Time = "duration_ns" | "busy_ns" | "wait_ns" | "communication_ns" | "iteration_ns";

const time = (key: Time, title: string, hint?: string): Column<RankRow> => ({
  key,
  title,
  isNumber: true,
  value: (row) => row[key],
  cell: (row) => timeCell(row[key]),
  width: "minmax(92px, 1fr)",
  ...(hint === undefined ? {} : { hint }),
});

const COLUMNS: Column<RankRow>[] = [
  {
    key: "rank",
    title: "Rank",
    value: ({ rank }) => rank,
    cell: ({ rank, id }) => (rank === null ? id : `rank ${count(rank)}`),
    width: "minmax(80px, 1fr)",
  },
  { key: "host", title: "Host", value: ({ host }) => host, width: "minmax(70px, 1fr)" },
  time("duration_ns", "Duration"),
  time("busy_ns", "GPU busy"),
  {
    key: "busy_share",
    title: "Share",
    isNumber: true,
    value: (row) => row.busy_share,
    cell: (row) => percent(row.busy_share),
    hint: "Of the time that was recorded of the GPUs that worked",
    width: "76px",
  },
  time("wait_ns", "Waited", "How long its host was blocked for the GPU"),
  time("communication_ns", "Exchange", "Kernels that exchange data with other ranks"),
  time("iteration_ns", "Step", "The median"),
  {
    key: "finding",
    title: "Its own first finding",
    value: ({ finding }) => finding,
    cell: ({ finding, findings }) =>
      finding === null ? (
        <span className="faint">none</span>
      ) : (
        `${finding}${findings > 1 ? `, and ${plural(findings - 1, "more", "more")}` : ""}`
      ),
    width: "minmax(180px, 3fr)",
  },
];

type RunKernel = RunReport["kernels"][number];

const KERNELS: Column<RunKernel>[] = [
  {
    key: "kernel",
    title: "Kernel",
    value: (kernel) => kernel.full_name,
    cell: ({ label, full_name, class: kernelClass }) => (
      <span title={full_name}>
        <Swatch color={classVariable(kernelClass)} />
        {shownName(label)}
      </span>
    ),
    width: "minmax(220px, 4fr)",
  },
  {
    key: "count",
    title: "Count",
    isNumber: true,
    value: (kernel) => kernel.count,
    cell: (kernel) => count(kernel.count),
  },
  {
    key: "share",
    title: "Share",
    isNumber: true,
    value: (kernel) => kernel.share,
    cell: (kernel) => percent(kernel.share),
  },
  ...(
    [
      ["total_ns", "Total"],
      ["min_rank_ns", "Least of a rank"],
      ["max_rank_ns", "Most of a rank"],
    ] as const
  ).map(([key, title]) => ({
    key,
    title,
    isNumber: true,
    value: (kernel: RunKernel) => kernel[key],
    cell: (kernel: RunKernel) => timeCell(kernel[key]),
    width: "minmax(110px, 1fr)",
  })),
];

function Whole({ report }: { report: RunReport }) {
  const uneven = unevenOf(report);
  const rows = rankRows(report);
  return (
    <>
      <InsightList session={null} insights={report.insights} whyNone={null} knows={() => false} />
      <Panel title="Ranks" note="click one for its session">
        {uneven.length > 0 && (
          <dl className="run-uneven">
            {uneven.map(({ what, text }) => (
              <div key={what}>
                <dt>{what}</dt>
                <dd className="num">{text}</dd>
              </div>
            ))}
          </dl>
        )}
        <DataTable
          rows={rows}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          name="ranks"
          sortedBy="rank"
          isAscending
          addressOf={({ id }) => sessionAddress(id)}
        />
      </Panel>
      <Panel title="Kernels of all ranks">
        <DataTable
          rows={report.kernels}
          columns={KERNELS}
          rowKey={({ full_name }) => full_name}
          name="kernels-of-ranks"
          sortedBy="total_ns"
        />
      </Panel>
      {report.problems.length > 0 && (
        <Panel title="What could not be read">
          <ul className="run-problems">
            {report.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

export default function RunPage() {
  const [, run = ""] = useSegments();
  const detail = useApi(pathOf("/runs/{}", run), {}, { enabled: run !== "" });
  const report = useApi(pathOf("/runs/{}/report", run), {}, { enabled: run !== "" });
  const summary = detail.data && summarize(detail.data.sessions);
  const name = detail.data?.app || run;
  useEffect(() => {
    document.title = `${name}, all ranks · GPUFlight`;
  }, [name]);
  const longest = timeQuantity(summary?.durationNs);
  return (
    <>
      <TopBar
        crumbs={detail.data ? ["Runs", name, wallTime(detail.data.start_wall_ns)] : ["Runs", run]}
        actions={<FindButton what="sessions and actions" />}
      />
      <main className="page">
        {detail.error && <Failed problem={detail.error} retry={detail.retry} />}
        {!detail.error && !detail.data && <Skeleton rows={6} />}
        {detail.data && summary && (
          <>
            <Facts
              of={[
                { label: "Ranks", value: membersText(summary, detail.data.sessions.length) },
                {
                  label: "Longest",
                  value: `${summary.isLowerBound ? "≥ " : ""}${longest.value}`,
                  unit: longest.unit,
                },
                {
                  label: "Kernels",
                  value: summary.kernels === null ? null : count(summary.kernels),
                  hint: "Of all ranks; unknown where a log has no ledger that counts them",
                },
                { label: "Hosts", value: count(summary.hosts.length) },
              ]}
            />
            <Ready of={report} rows={8}>
              {(data) => <Whole report={data} />}
            </Ready>
          </>
        )}
      </main>
    </>
  );
}
