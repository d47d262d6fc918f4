// SPDX-License-Identifier: Apache-2.0
// One line that waits: its text, the kernels that it waits for, and one of its waits drawn.
import { useMemo, useState } from "react";
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { EventEntry, KernelClass, Report, Waits } from "../../api/types";
import {
  count,
  duration,
  exactTime,
  isUnknown,
  percent,
  plural,
  sentence,
  withMicro,
} from "../../base/format";
import { classVariable } from "../../base/kernel_class";
import { remedyHere } from "../../base/remedy";
import { languageOf, lineStates } from "../../base/tokenizer";
import { CodeText } from "../../widgets/code_text";
import { PanelTools } from "../../widgets/parts";
import { PlainTable } from "../../widgets/plain_table";
import { Ready } from "../../widgets/states";
import type { Column } from "../../widgets/table";
import { WithCode } from "../kernels/with_code";
import { sessionHref } from "../session_frame";
import { type Cycle, cycleOf, placeIn, rangeOf, timelineOf } from "./cycle";
import { type Launched as LaunchedKernel, launchedAt, type Site, sourceAround } from "./sites";

const MOST_EVENTS = 5_000;
const DRAWN = ["waits", "kernel_calls", "kernels"];
const KEEP_TEXT =
  "`gpufl symbolize SESSION` on the machine that has the files; add --source-root DIR if they have moved";

function NoSource({
  session,
  site,
  sources,
}: {
  session: string;
  site: Site;
  sources: Waits["sources"];
}) {
  const folder = useSection(session, "session").data?.log ?? "";
  const [why, remedy] = isUnknown(sources)
    ? [sources.unknown, sources.hint ?? ""]
    : ["no source text of this file was kept", KEEP_TEXT];
  const how = remedyHere(remedy, folder);
  return (
    <div className="sync-source-none">
      <p className="mono">{site.key}</p>
      <p className="dim">
        {sentence(why)}
        {how !== "" && (
          <>
            {" "}
            To see the line here: <WithCode text={how} />.
          </>
        )}
      </p>
    </div>
  );
}

function SourceLines({
  session,
  site,
  sources,
}: {
  session: string;
  site: Site;
  sources: Waits["sources"];
}) {
  const view = isUnknown(sources) ? null : sourceAround(sources, site.file, site.line);
  if (view === null) return <NoSource session={session} site={site} sources={sources} />;
  const language = languageOf(view.path);
  const states = lineStates(
    view.lines.map(({ text }) => text),
    language,
  );
  return (
    <figure className="sync-source">
      <figcaption className="mono" title={site.key}>
        {site.place}
        {view.isNewer && (
          <span className="warn"> · the file changed after the recording began</span>
        )}
      </figcaption>
      <pre aria-label={`Source around ${site.place}`} tabIndex={0}>
        {view.lines.map(({ line, text }, i) => (
          <div key={line} className={line === site.line ? "on" : ""}>
            <span className="faint">{line}</span>
            <span>
              <CodeText text={text} language={language} state={states[i]} />
            </span>
            {line === site.line && <b>waits here</b>}
          </div>
        ))}
      </pre>
    </figure>
  );
}

const ROWS = [
  { key: "launches", title: "Host launches" },
  { key: "waits", title: "Host waits" },
  { key: "kernels", title: "GPU works" },
] as const;

// By every name that an event may have.
function classesOf(kernels: Report["kernels"] | undefined): Map<string, KernelClass> {
  if (kernels === undefined || isUnknown(kernels)) return new Map();
  const named = kernels.by_name.flatMap((kernel): [string, KernelClass][] => [
    [kernel.label, kernel.class],
    [kernel.full_name ?? kernel.label, kernel.class],
  ]);
  return new Map(named);
}

// Host and GPU over one wait: where the lowest row has ground, the GPU has nothing to do.
function Strip({ cycle, classOf }: { cycle: Cycle; classOf: Map<string, KernelClass> }) {
  const { range, wait } = cycle;
  const words = `From ${exactTime(range[0])} to ${exactTime(range[1])}: ${plural(cycle.launches.length, "launch", "launches")}, then a wait of ${duration(wait?.duration_ns)}`;
  return (
    <div className="sync-strip" role="img" aria-label={words}>
      {ROWS.map(({ key, title }) => (
        <div key={key} className={`sync-row ${key}`}>
          <span className="dim">{title}</span>
          <div>
            {cycle[key].map((event: EventEntry, i) => {
              const place = placeIn(range, event);
              if (!place) return null;
              return (
                <i
                  key={i}
                  className={event === wait ? "on" : ""}
                  title={`${event.label}, ${duration(event.duration_ns)}`}
                  style={{
                    left: `${place.left}%`,
                    width: `${place.width}%`,
                    ...(key === "kernels"
                      ? { background: classVariable(classOf.get(event.name ?? event.label)) }
                      : {}),
                  }}
                />
              );
            })}
          </div>
        </div>
      ))}
      <div className="sync-row ends num faint">
        <span />
        <div>
          <span>{exactTime(range[0])}</span>
          <span>+{duration(range[1] - range[0])}</span>
        </div>
      </div>
    </div>
  );
}

function launchedColumns(session: string, waits: number, all: number): Column<LaunchedKernel>[] {
  const share = ({ gpu_ns }: LaunchedKernel) => (all > 0 ? gpu_ns / all : null);
  return [
    {
      key: "kernel",
      title: (
        <>
          Kernels launched since the wait before{" "}
          <span className="faint">by the same thread, over {plural(waits, "wait")}</span>
        </>
      ),
      value: ({ name }) => name,
      cell: ({ name, label }) => (
        <a href={sessionHref(session, `kernels/${encodeURIComponent(name)}`)} title={name}>
          {label}
        </a>
      ),
    },
    {
      key: "launches",
      title: "Launches",
      value: (row) => row.count,
      cell: (row) => count(row.count),
      isNumber: true,
    },
    {
      key: "per_wait",
      title: "Per wait",
      value: ({ perWait }) => perWait,
      cell: ({ perWait }) => perWait.toLocaleString("en-US", { maximumFractionDigits: 1 }),
      isNumber: true,
    },
    {
      key: "gpu_ns",
      title: "On the GPU",
      value: ({ gpu_ns }) => gpu_ns,
      cell: ({ gpu_ns }) => duration(gpu_ns),
      isNumber: true,
    },
    {
      key: "share",
      title: "Share",
      value: share,
      cell: (row) => (all > 0 ? percent(share(row)) : ""),
      isNumber: true,
    },
  ];
}

function Launched({ session, site, waits }: { session: string; site: Site; waits: Waits }) {
  if (isUnknown(site.launched)) {
    return (
      <p className="dim">
        Which kernels it waits for is not known: {site.launched.unknown}.
        {site.launched.hint !== undefined && (
          <>
            {" "}
            <WithCode text={sentence(site.launched.hint)} />
          </>
        )}
      </p>
    );
  }
  const { others, graphs } = site.launched;
  const kernels = launchedAt(site, waits.kernels);
  const all = kernels.reduce((sum, { gpu_ns }) => sum + gpu_ns, others.gpu_ns);
  return (
    <>
      {kernels.length === 0 ? (
        <p className="dim">
          No kernel was launched since the wait before
          {graphs > 0 ? "" : ": such a wait can only be for older work, or for copies"}.
        </p>
      ) : (
        <PanelTools.Provider value={null}>
          <PlainTable
            name="launched-since-the-wait-before"
            rows={kernels}
            columns={launchedColumns(session, site.count, all)}
            rowKey={({ name }) => name}
            {...(others.kernels > 0
              ? {
                  rest: [
                    plural(others.kernels, "other kernel"),
                    count(others.count),
                    "",
                    duration(others.gpu_ns),
                    all > 0 ? percent(others.gpu_ns / all) : "",
                  ],
                }
              : {})}
          />
        </PanelTools.Provider>
      )}
      {graphs > 0 && (
        <p className="dim">
          And {plural(graphs, "graph launch", "graph launches")}, whose kernels were not recorded.
        </p>
      )}
      {waits.kernels_without_call > 0 && (
        <p className="dim">
          {plural(waits.kernels_without_call, "kernel")} of the session have no known launch and are
          not counted here.
        </p>
      )}
    </>
  );
}

function OneWait({ session, site }: { session: string; site: Site }) {
  const [shown, setShown] = useState<"typical" | "longest">("typical");
  const kernels = useSection(session, "kernels").data;
  const classOf = useMemo(() => classesOf(kernels), [kernels]);
  const tracks = useApi(sessionPath(session, "/tracks")).data?.tracks;
  const wait = site[shown];
  const [from, to] = rangeOf(wait);
  const page = useApi(
    sessionPath(session, "/events"),
    {
      from,
      to: Math.max(to, from + 1),
      tracks: (tracks ?? [])
        .filter(({ kind }) => DRAWN.includes(kind))
        .map(({ id }) => id)
        .join(","),
      limit: MOST_EVENTS,
    },
    { enabled: tracks !== undefined, keepsLast: true },
  );
  return (
    <>
      <div className="sync-pick">
        {site.count === 1 ? (
          <b>The wait</b>
        ) : (
          <div role="group" aria-label="Which wait">
            {(["typical", "longest"] as const).map((which) => (
              <button
                key={which}
                className="btn"
                aria-pressed={shown === which}
                onClick={() => setShown(which)}
              >
                {which === "typical" ? "A typical wait" : "The longest"}
              </button>
            ))}
          </div>
        )}
        <span className="dim num">
          {duration(wait.duration_ns)} in {site.call} at {exactTime(wait.start_ns)}
        </span>
        <span className="grow" />
        <a href={sessionHref(session, timelineOf(wait))}>See it on the timeline</a>
      </div>
      <Ready of={page} rows={3}>
        {({ events, next_from }) => (
          <>
            <Strip cycle={cycleOf(wait, events)} classOf={classOf} />
            {next_from !== null && (
              <p className="dim">
                Only the first {count(MOST_EVENTS)} events are drawn; the timeline has all.
              </p>
            )}
          </>
        )}
      </Ready>
    </>
  );
}

export function SiteDetail({
  session,
  site,
  waits,
}: {
  session: string;
  site: Site;
  waits: Waits;
}) {
  const [first] = site.insights;
  const said = [
    ...site.insights.flatMap(({ evidence }) => evidence.map(({ text }) => sentence(text))),
    ...(first && first.gain_ns !== null ? [first.estimate] : []),
  ];
  return (
    <div className="sync-detail">
      <SourceLines session={session} site={site} sources={waits.sources} />
      <Launched session={session} site={site} waits={waits} />
      <OneWait session={session} site={site} />
      {said.length > 0 && <p className="dim">{withMicro(said.join(" "))}</p>}
    </div>
  );
}
