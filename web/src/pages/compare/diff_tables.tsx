// SPDX-License-Identifier: Apache-2.0
import { type ReactNode, useMemo } from "react";
import { useApi } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { Diff, DiffEntry } from "../../api/types";
import { navigate, setViewParameters, useViewParameter } from "../../base/address";
import { count, duration, percent, plural } from "../../base/format";
import { Badge, Panel } from "../../widgets/parts";
import { Empty } from "../../widgets/states";
import { type Column, DataTable } from "../../widgets/table";
import { TableTools } from "../../widgets/table_tools";
import { sessionAddress } from "../session_frame";
import { WarpTable } from "./warp_table";
import {
  changeText,
  differences,
  figureText,
  intervalText,
  launchChange,
  valueText,
  VERDICTS,
  verdictTone,
} from "./diff_words";

export function Totals({ diff }: { diff: Diff }) {
  if (diff.totals.length === 0) return null;
  const isPerIteration = diff.per_iteration !== undefined;
  return (
    <Panel title="Totals">
      <TableTools
        name="comparison-totals"
        table={() => [
          ["figure", "verdict", "change", "low", "high", "a", "b"],
          ...diff.totals.map(({ metric, verdict, change, low, high, a, b }) => [
            metric,
            verdict,
            change,
            low,
            high,
            a,
            b,
          ]),
        ]}
        rows={diff.totals}
      />
      <div className="totals">
        {diff.totals.map((entry) => (
          <div key={entry.metric}>
            <small>{figureText(entry, isPerIteration)}</small>
            <b className="num">{changeText(entry.change)}</b>{" "}
            <Badge tone={diff.proof === "none" ? "plain" : verdictTone(entry.verdict)}>
              {VERDICTS[entry.verdict]}
            </Badge>
            <span className="num">
              {valueText(entry.metric, entry.a)} → {valueText(entry.metric, entry.b)}
            </span>
            {intervalText(entry) !== "" && <em className="num">{intervalText(entry)}</em>}
          </div>
        ))}
      </div>
    </Panel>
  );
}

// The server's short names of kernels; the comparison has the whole ones.
function useKernelLabels(sessions: (string | undefined)[]): Map<string, string> {
  const [a, b] = sessions;
  const ask = { limit: 10_000 };
  const ofA = useApi(sessionPath(a ?? "", "/kernels"), ask, {
    enabled: a !== undefined,
  }).data;
  const ofB = useApi(sessionPath(b ?? "", "/kernels"), ask, {
    enabled: b !== undefined,
  }).data;
  return useMemo(() => {
    const all = [...(ofA?.by_name ?? []), ...(ofB?.by_name ?? [])];
    return new Map(all.map(({ label, full_name }) => [full_name ?? label, label]));
  }, [ofA, ofB]);
}

type Shown = "changed" | "launches" | "alike";
type Subject = "all" | "kernel" | "scope";

export function DiffTables({ diff, a, b }: { diff: Diff; a: string[]; b: string[] }) {
  const labels = useKernelLabels([a[0], b[0]]);
  const [show, setShow] = useViewParameter("show");
  const [of, setOf] = useViewParameter("of");
  const lists = useMemo(
    () => ({
      changed: diff.findings.filter(({ verdict }) => verdict !== "changed"),
      launches: diff.findings.filter((entry) => launchChange(entry) !== ""),
      alike: diff.alike,
    }),
    [diff],
  );
  const fallback: Shown =
    lists.changed.length > 0 || lists.launches.length === 0 ? "changed" : "launches";
  const shown: Shown =
    show === "changed" || show === "launches" || show === "alike" ? show : fallback;
  const subject: Subject = of === "kernel" || of === "scope" ? of : "all";
  const rows = lists[shown].filter((entry) => subject === "all" || entry.subject === subject);
  const open = (entry: DiffEntry) => {
    const session = entry.verdict === "vanished" ? a[0] : b[0];
    if (session === undefined) return;
    const place =
      entry.kernel === undefined
        ? `scopes?q=${encodeURIComponent(entry.scope ?? "")}`
        : `kernels/${encodeURIComponent(entry.kernel)}`;
    navigate(sessionAddress(session, place));
  };
  const columns = useMemo(
    () => columnsOf(labels, shown, diff.per_iteration !== undefined, rows),
    [labels, shown, diff, rows.length],
  );
  const choices: [Shown, string][] = [
    ["changed", "Changed"],
    ["launches", "Launched differently"],
    ["alike", "Alike"],
  ];
  const subjects: [Subject, string][] = [
    ["all", "Kernels and scopes"],
    ["kernel", "Kernels"],
    ["scope", "Scopes"],
  ];
  return (
    <>
      <Panel
        title="What changed"
        note={lists.changed.length > 0 ? differences(lists.changed) : "nothing in time or number"}
        actions={
          <>
            <Choice label="Which" value={shown} set={(value) => setShow(value)}>
              {choices.map(([key, title]) => ({ key, title, number: lists[key].length }))}
            </Choice>
            <Choice
              label="Of"
              value={subject}
              set={(value) => setOf(value === "all" ? null : value)}
            >
              {subjects.map(([key, title]) => ({ key, title }))}
            </Choice>
          </>
        }
      >
        {rows.length === 0 ? (
          <Empty title={shown === "changed" ? "No kernel or scope differs" : "None"}>
            {subject !== "all" && (
              <button className="btn" onClick={() => setViewParameters({ of: null })}>
                Show kernels and scopes
              </button>
            )}
          </Empty>
        ) : (
          <DataTable
            key={shown}
            name={`comparison-${shown}`}
            rows={rows}
            columns={columns}
            rowKey={(_, i) => String(i)}
            onOpen={open}
            maxRows={22}
          />
        )}
        {diff.left_out > 0 && (
          <p className="diff-foot">
            {plural(diff.left_out, "kernel or scope", "kernels and scopes")} with less than{" "}
            {percent(diff.min_share)} of the time were left out.
          </p>
        )}
      </Panel>
      {diff.warps.length > 0 && <WarpTable warps={diff.warps} />}
    </>
  );
}

function Choice<Key extends string>({
  label,
  value,
  set,
  children,
}: {
  label: string;
  value: Key;
  set: (value: Key) => void;
  children: { key: Key; title: string; number?: number }[];
}) {
  return (
    <span className="diff-choice" role="group" aria-label={label}>
      {children.map(({ key, title, number }) => (
        <button key={key} aria-pressed={value === key} onClick={() => set(key)}>
          {title} {number !== undefined && <small>{count(number)}</small>}
        </button>
      ))}
    </span>
  );
}

function What({ entry, labels }: { entry: DiffEntry; labels: Map<string, string> }): ReactNode {
  if (entry.kernel === undefined) return <span title={entry.scope}>{entry.scope}</span>;
  const where = [entry.scope, entry.config].filter(Boolean).join(" · ");
  return (
    <span title={`${entry.kernel}\n${where}`}>
      {labels.get(entry.kernel) ?? entry.kernel} <span className="dim">{where}</span>
    </span>
  );
}

function columnsOf(
  labels: Map<string, string>,
  shown: Shown,
  isPerIteration: boolean,
  rows: DiffEntry[],
): Column<DiffEntry>[] {
  const hasIntervals = rows.some((entry) => intervalText(entry) !== "");
  const columns: (Column<DiffEntry> | false)[] = [
    {
      key: "what",
      title: "Kernel or scope",
      value: (entry) => entry.kernel ?? entry.scope ?? "",
      cell: (entry) => <What entry={entry} labels={labels} />,
      width: "minmax(180px, 4fr)",
    },
    shown === "launches" && {
      key: "launch",
      title: "Launched",
      value: launchChange,
      cell: (entry) => <span title={launchChange(entry)}>{launchChange(entry)}</span>,
      width: "minmax(160px, 3fr)",
    },
    shown !== "launches" && {
      key: "verdict",
      title: "Verdict",
      value: ({ verdict }) => VERDICTS[verdict],
      cell: ({ verdict }) => (
        <span className={`diff-verdict ${verdictTone(verdict)}`}>{VERDICTS[verdict]}</span>
      ),
      width: "minmax(112px, 1fr)",
    },
    {
      key: "change",
      title: "Change",
      value: ({ change }) => change ?? Infinity,
      cell: ({ change, verdict }) => (
        <b className={`diff-verdict ${verdictTone(verdict)}`}>{changeText(change)}</b>
      ),
      isNumber: true,
      width: "86px",
    },
    hasIntervals && {
      key: "interval",
      title: "Interval",
      value: ({ low }) => low,
      cell: intervalText,
      isNumber: true,
      width: "minmax(130px, 1fr)",
      hint: "95%, for all figures together",
    },
    {
      key: "figure",
      title: "Of",
      value: (entry) => figureText(entry, isPerIteration),
      width: "minmax(76px, 1fr)",
    },
    {
      key: "a",
      title: "A",
      value: ({ a }) => a,
      cell: ({ metric, a }) => valueText(metric, a),
      isNumber: true,
      width: "90px",
    },
    {
      key: "b",
      title: "B",
      value: ({ b }) => b,
      cell: ({ metric, b }) => valueText(metric, b),
      isNumber: true,
      width: "90px",
    },
    {
      key: "impact",
      title: isPerIteration ? "Per iteration" : "Per run",
      value: ({ impact_ns }) => impact_ns,
      cell: ({ impact_ns }) => impactText(impact_ns),
      isNumber: true,
      width: "minmax(112px, 1fr)",
      hint: "How much time it makes",
    },
  ];
  return columns.filter((column) => column !== false);
}

function impactText(impact: number | null): ReactNode {
  if (impact === null) return <span title="Not known">–</span>;
  if (impact === 0) return "0";
  return `${impact < 0 ? "−" : "+"}${duration(Math.abs(impact))}`;
}
