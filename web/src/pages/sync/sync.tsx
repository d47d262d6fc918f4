// SPDX-License-Identifier: Apache-2.0
// Where the program waits for the GPU, line by line, the one to look at first on top.
import { useEffect, useRef } from "react";
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { Insight, WaitCall, Waits } from "../../api/types";
import { useViewParameter } from "../../base/address";
import {
  count,
  duration,
  isUnknown,
  percent,
  plural,
  timeQuantity,
  UNKNOWN,
  withMicro,
} from "../../base/format";
import { Badge, Copyable, Facts, Panel } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { type Column, DataTable } from "../../widgets/table";
import { timeCell } from "../../widgets/time_cell";
import { TableTools } from "../../widgets/table_tools";
import { headline, type Site, siteAt, sitesOf } from "./sites";
import { SEVERITY } from "../overview/insight_words";
import { baseName } from "../kernels/code_model";
import { sessionAddress, sessionHref } from "../session_frame";
import { ImportedStacks, useImportedFrom } from "../imported";
import { loopVerdict } from "./each_wait";
import { SiteDetail } from "./site_detail";
import { useEachWait, WaitList } from "./wait_list";
import "./sync.css";

// In the address: no line is open.
const CLOSED = "none";

function SiteCard({
  site,
  session,
  waits,
  shareOfRun,
  isOpen,
  isLinked,
  toggle,
}: {
  site: Site;
  session: string;
  waits: Waits;
  shareOfRun: number | null;
  isOpen: boolean;
  // The address names it.
  isLinked: boolean;
  toggle: () => void;
}) {
  const { tone, word } = SEVERITY[site.severity];
  const [first] = site.insights;
  const blocked = timeQuantity(site.blocked_ns);
  // A link to a line may lead to one far below.
  const card = useRef<HTMLElement>(null);
  const wasLinked = useRef(isLinked);
  useEffect(() => {
    if (wasLinked.current) card.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <article ref={card} className={isOpen ? "sync-card open" : "sync-card"}>
      <div className="sync-severity">
        <Badge tone={tone} hint="How much of the run this line blocks, and how">
          {word}
        </Badge>
      </div>
      <div className="sync-what">
        <h3>
          {headline(site)}
          {site.count > 1 && <span className="dim"> × {count(site.count)}</span>}
        </h3>
        <p className="sync-place">
          <button className="chip source sync-chip" aria-expanded={isOpen} onClick={toggle}>
            {site.place} {isOpen ? "▾" : "▸"}
          </button>
          {site.inside !== "" && (
            <span className="dim">
              in <span className="mono">{site.inside}</span>
            </span>
          )}
          <span className="faint sync-copy">
            <Copyable text={site.key}>copy path</Copyable>
          </span>
        </p>
        {first && <p>{first.advice}</p>}
      </div>
      <div className="sync-cost num">
        {site.holds_stream ? (
          "the host is not blocked"
        ) : (
          <>
            <b>{blocked.value}</b> {blocked.unit} blocked
          </>
        )}
        <small>
          {shareOfRun !== null && !site.holds_stream && (
            <span>{percent(shareOfRun)} of the run</span>
          )}
          {first && first.gain_ns !== null && (
            <span title={withMicro(first.estimate)}>
              saves about {duration(first.gain_ns)}, {first.confidence} confidence
            </span>
          )}
        </small>
      </div>
      {isOpen && <SiteDetail session={session} site={site} waits={waits} />}
    </article>
  );
}

const CALLS: Column<WaitCall>[] = [
  { key: "call", title: "Call", value: ({ call }) => call, width: "minmax(200px, 3fr)" },
  {
    key: "count",
    title: "Waits",
    value: ({ blocked_ns }) => blocked_ns.count,
    cell: ({ blocked_ns }) => count(blocked_ns.count),
    isNumber: true,
  },
  ...(["total", "mean", "median", "p99", "max"] as const).map((key) => ({
    key,
    savedAs: `${key}_ns`,
    title: { total: "Blocked", mean: "Mean", median: "Median", p99: "p99", max: "Longest" }[key],
    value: ({ blocked_ns }: WaitCall) => blocked_ns[key] ?? null,
    cell: ({ blocked_ns }: WaitCall) => timeCell(blocked_ns[key]),
    isNumber: true,
  })),
];

function tableOf(sites: Site[]): (string | number)[][] {
  return [
    ["line", "function", "severity", "waits", "blocked_ns"],
    ...sites.map(({ key, inside, severity, count: waits, blocked_ns }) => [
      key,
      inside,
      severity,
      waits,
      blocked_ns,
    ]),
  ];
}

function WithoutLines({ session, waits }: { session: string; waits: number }) {
  const groups = useSection(session, "kernels").data;
  const tool = useImportedFrom(session);
  const hasLines =
    groups !== undefined &&
    !isUnknown(groups) &&
    !isUnknown(groups.by_line) &&
    groups.by_line.length > 0;
  const one = waits === 1 ? "this wait" : "these waits";
  return (
    <Empty
      title={
        hasLines
          ? `Lines are known for launches, but not for ${one}`
          : `${plural(waits, "wait")} recorded, but not the lines that made them`
      }
    >
      {hasLines && (
        <p>
          <a href={sessionHref(session, "kernels?by=line")}>The lines of launches</a>
        </p>
      )}
      {tool === undefined ? null : tool === null ? (
        <p>
          <code>gpufl trace --stacks -- python train.py</code> records the file, the line and the
          function of each wait.
        </p>
      ) : (
        <ImportedStacks tool={tool} />
      )}
    </Empty>
  );
}

function Sites({
  session,
  waits,
  insights,
}: {
  session: string;
  waits: Waits;
  insights: Insight[];
}) {
  const [open, setOpen] = useViewParameter("line");
  const [call, setCall] = useViewParameter("call");
  const about = useApi(sessionPath(session, "")).data;
  const run = about?.duration_ns ?? null;
  const each = useEachWait(session);
  const sites = sitesOf(waits.by_line, insights);
  const [worst] = sites;
  // The line to look at first is open until somebody closes it, or that of a call that was linked to.
  const first = sites.find((site) => site.call === call) ?? (worst?.isInLoop ? worst : undefined);
  const opened = open === null ? first : siteAt(sites, open);
  const total = waits.by_call.reduce((sum, { blocked_ns }) => sum + blocked_ns.total, 0);
  const waitCount = waits.by_call.reduce((sum, { blocked_ns }) => sum + blocked_ns.count, 0);
  const inLoops = sites.filter(({ isInLoop }) => isInLoop).length;
  if (waitCount === 0 && sites.length === 0) {
    return (
      <Panel>
        <Empty title="The program never waited for the GPU">
          No call that blocks the host until the GPU is done was recorded. Copies from pageable
          memory also block it: see the Memory page.
        </Empty>
      </Panel>
    );
  }
  const inSteps = each.found?.isWhole
    ? loopVerdict(each.found.waits, each.found.steps, run ? total / run : null)
    : null;
  const blocked = timeQuantity(total);
  const longest = timeQuantity(
    Math.max(...waits.by_call.map(({ blocked_ns }) => blocked_ns.max ?? 0)),
  );
  return (
    <>
      <Facts
        of={[
          { label: "Host blocked", value: blocked.value, unit: blocked.unit },
          {
            label: "Share of the run",
            value: run ? percent(total / run) : UNKNOWN,
            hint: "Time of all threads that waited, of the time that was recorded",
          },
          { label: "Waits", value: count(waitCount) },
          { label: "Longest wait", value: longest.value, unit: longest.unit },
          {
            label: "Lines that wait",
            value: sites.length === 0 ? UNKNOWN : count(sites.length),
            hint: sites.length === 0 ? "The lines of the waits were not recorded" : undefined,
          },
          worst
            ? {
                label: "Waits in a loop",
                value: count(inLoops),
                unit: inLoops === 1 ? "line" : "lines",
                hint: "Lines that wait again and again, with kernels launched in between",
              }
            : {
                label: "Waits in a loop",
                value: inSteps ? count(inSteps.number) : UNKNOWN,
                hint: inSteps?.text ?? "No steps were found, and no lines that wait",
              },
        ]}
      />
      {!worst && inSteps && (
        <p className="sync-verdict">
          <b>Waits in a loop: {count(inSteps.number)}.</b> {inSteps.text}
        </p>
      )}
      {open !== null && open !== CLOSED && opened === undefined && (
        <p className="sync-elsewhere">
          No wait was recorded at <span className="mono">{open}</span>. What it launches:{" "}
          <a href={sessionHref(session, `kernels?by=line&q=${encodeURIComponent(baseName(open))}`)}>
            kernels by line
          </a>
          .
        </p>
      )}
      <Panel
        title="Lines that wait for the GPU"
        note="most pressing first; click a line for the kernels that it waits for"
      >
        {sites.length === 0 ? (
          <WithoutLines session={session} waits={waitCount} />
        ) : (
          <>
            <TableTools name="waits-by-line" table={() => tableOf(sites)} rows={waits.by_line} />
            {sites.map((site) => (
              <SiteCard
                key={site.key}
                site={site}
                session={session}
                waits={waits}
                shareOfRun={run ? site.blocked_ns / run : null}
                isOpen={site === opened}
                isLinked={site === opened && (open !== null || call !== null)}
                toggle={() => setOpen(site === opened ? CLOSED : site.key)}
              />
            ))}
          </>
        )}
      </Panel>
      <Panel title="By call" note="how long calls blocked the host; click one for its waits">
        <DataTable
          rows={waits.by_call}
          columns={CALLS}
          rowKey={({ call }) => call}
          name="waits-by-call"
          isSelected={(row) => row.call === call}
          sortedBy="total"
          addressOf={(row) => sessionAddress(session, `sync?call=${encodeURIComponent(row.call)}`)}
          onOpen={(row) => setCall(row.call === call ? null : row.call)}
        />
      </Panel>
      <WaitList session={session} of={each} call={call} />
    </>
  );
}

export default function Sync({ session }: { session: string }) {
  const waits = useSection(session, "waits");
  const insights = useSection(session, "insights");
  const tool = useImportedFrom(session);
  return (
    <Ready of={waits} rows={8}>
      {(found) =>
        isUnknown(found) ? (
          <Panel>
            <Empty title="This session has no waits">
              <p>Why: {found.unknown}.</p>
              {tool === null && (
                <p>
                  <code>gpufl trace --stacks -- python train.py</code> records each wait and the
                  line that made it.
                </p>
              )}
              {typeof tool === "string" && <ImportedStacks tool={tool} />}
            </Empty>
          </Panel>
        ) : (
          <Sites session={session} waits={found} insights={insights.data ?? []} />
        )
      }
    </Ready>
  );
}
