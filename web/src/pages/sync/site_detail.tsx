// SPDX-License-Identifier: Apache-2.0
// One line that waits: its text, one of its waits drawn, and the kernels launched since the wait before.
import { useState } from "react";
import { useApi, sessionPath } from "../../api/hooks";
import { count, duration, exactTime, plural, UNKNOWN } from "../../base/format";
import { Ready } from "../../widgets/states";
import { sessionHref } from "../session_frame";
import {
  type Cycle,
  cycleOf,
  type EventPage,
  placeIn,
  type TimelineEvent,
  waitBefore,
} from "./cycle";
import { type Site, sourceAround, type SourceText } from "./sites";

const BEFORE_NS = 1_000_000_000;
const MOST_WAITS = 10_000;
const MOST_EVENTS = 5_000;

interface Tracks {
  tracks: { id: string; kind: string }[];
}

function idsOf(tracks: Tracks | undefined, kinds: string[]): string {
  const found = tracks?.tracks.filter(({ kind }) => kinds.includes(kind)) ?? [];
  return found.map(({ id }) => id).join(",");
}

function SourceLines({
  session,
  site,
  kernel,
}: {
  session: string;
  site: Site;
  kernel: string | null;
}) {
  const code = useApi<{ sources?: SourceText[] }>(
    sessionPath(session, `/kernels/${encodeURIComponent(kernel ?? "")}/code`),
    {},
    { enabled: kernel !== null },
  );
  const lines = sourceAround(code.data?.sources ?? [], site.file, site.line);
  if (lines.length === 0) {
    return (
      <p className="sync-source-none">
        <span className="mono">{site.key}</span>
        {site.inside !== "" && <span className="dim"> in {site.inside}</span>}
        <span className="faint"> · the session has no text of this file</span>
      </p>
    );
  }
  return (
    <pre className="sync-source" aria-label={`Source around ${site.place}`}>
      {lines.map(({ line, text }) => (
        <div key={line} className={line === site.line ? "on" : ""}>
          <span className="faint">{line}</span> {text}
        </div>
      ))}
    </pre>
  );
}

const ROWS = [
  { key: "launches", title: "Host launches" },
  { key: "waits", title: "Host waits" },
  { key: "kernels", title: "GPU works" },
] as const;

// Host and GPU over one wait: where the lowest row has ground, the GPU has nothing to do.
function Strip({ cycle, waits }: { cycle: Cycle; waits: TimelineEvent[] }) {
  const range: [number, number] = [cycle.from_ns, cycle.to_ns];
  const of = { launches: cycle.launches, waits, kernels: cycle.kernels };
  const words = `From ${exactTime(range[0])} to ${exactTime(range[1])}: ${plural(cycle.launches.length, "launch", "launches")}, then a wait of ${duration(cycle.wait.duration_ns)}`;
  return (
    <div className="sync-strip" role="img" aria-label={words}>
      {ROWS.map(({ key, title }) => (
        <div key={key} className={`sync-row ${key}`}>
          <span className="dim">{title}</span>
          <div>
            {of[key].map((event) => {
              const place = placeIn(range, event);
              if (!place) return null;
              return (
                <i
                  key={`${event.track} ${event.event}`}
                  className={event.event === cycle.wait.event ? "on" : ""}
                  title={`${event.label}, ${duration(event.duration_ns)}`}
                  style={{ left: `${place.left}%`, width: `${place.width}%` }}
                />
              );
            })}
          </div>
        </div>
      ))}
      <div className="sync-row ends num faint">
        <span />
        <div>
          <span>{duration(range[0])}</span>
          <span>{duration(range[1] - range[0])}</span>
        </div>
      </div>
    </div>
  );
}

function Launched({ session, cycle }: { session: string; cycle: Cycle }) {
  if (cycle.launched.length === 0) {
    return (
      <p className="dim">
        No kernel was launched since the wait before: this wait has nothing new.
      </p>
    );
  }
  return (
    <table className="sync-launched">
      <thead>
        <tr>
          <th scope="col">Kernels launched since the wait before</th>
          <th scope="col">Launches</th>
          <th scope="col">On the GPU</th>
        </tr>
      </thead>
      <tbody>
        {cycle.launched.map(({ name, label, launches, gpu_ns }) => (
          <tr key={name}>
            <td>
              <a href={sessionHref(session, `kernels/${encodeURIComponent(name)}`)} title={name}>
                {label}
              </a>
            </td>
            <td className="num">{count(launches)}</td>
            <td className="num">{gpu_ns === null ? UNKNOWN : duration(gpu_ns)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function useStack(session: string, event: string | undefined): string | null {
  const { data } = useApi<{ stack?: string[] }>(
    sessionPath(session, `/events/${encodeURIComponent(event ?? "")}`),
    {},
    { enabled: event !== undefined },
  );
  return data ? JSON.stringify(data.stack ?? []) : null;
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

// Kernels that were already running when the wait before began are in the picture too.
function earlier(before: TimelineEvent, wait: TimelineEvent): number {
  return before.start_ns - (wait.start_ns + wait.duration_ns - before.start_ns);
}

export function SiteDetail({ session, site }: { session: string; site: Site }) {
  const [chosen, setChosen] = useState<number | null>(null);
  const tracks = useApi<Tracks>(sessionPath(session, "/tracks")).data;
  const [first, last] = site.span ?? [0, 0];
  const waitPage = useApi<EventPage>(
    sessionPath(session, "/events"),
    { from: first - BEFORE_NS, to: last, tracks: idsOf(tracks, ["waits"]), limit: MOST_WAITS },
    { enabled: tracks !== undefined && site.span !== null },
  );
  const waits = waitPage.data?.events ?? [];
  const inSpan = waits.filter(({ start_ns }) => start_ns >= first);
  const isAllOfSite = inSpan.length === site.count;
  // The middle of a loop is what it usually does. Where other lines wait in between, stacks tell
  // whether that one is of this line; the first and the last always are.
  const middle = inSpan[inSpan.length >> 1];
  const firstStack = useStack(session, isAllOfSite ? undefined : inSpan[0]?.event);
  const lastStack = useStack(session, isAllOfSite ? undefined : inSpan.at(-1)?.event);
  const middleStack = useStack(session, isAllOfSite ? undefined : middle?.event);
  const isMiddleOfSite =
    isAllOfSite ||
    (middleStack !== null && (middleStack === firstStack || middleStack === lastStack));
  const index = chosen ?? (isMiddleOfSite ? inSpan.length >> 1 : 0);
  const wait = inSpan[index];
  const before = wait ? waitBefore(waits, wait) : null;
  const work = useApi<EventPage>(
    sessionPath(session, "/events"),
    {
      from: wait && before ? earlier(before, wait) : (wait?.start_ns ?? 0) - BEFORE_NS,
      to: wait ? wait.start_ns + wait.duration_ns : 0,
      tracks: idsOf(tracks, ["kernel_calls", "kernels"]),
      limit: MOST_EVENTS,
    },
    { enabled: wait !== undefined, keepsLast: true },
  );
  const cycle = wait && work.data ? cycleOf(wait, before, work.data.events) : null;
  return (
    <div className="sync-detail">
      <SourceLines session={session} site={site} kernel={cycle?.launched[0]?.name ?? null} />
      <p className="dim">
        {site.insights
          .flatMap(({ evidence }) => evidence.map(({ text }) => sentence(text)))
          .join(" ")}{" "}
        {site.insights[0]?.gain_ns === null ? "" : site.insights[0]?.estimate}
      </p>
      {site.span === null ? (
        <p className="dim">The report does not say when this line waits.</p>
      ) : (
        <Ready of={waitPage} rows={3}>
          {() =>
            wait === undefined ? (
              <p className="dim">Its waits are not in the index of the timeline.</p>
            ) : (
              <>
                <div className="sync-pick">
                  <b className="num">
                    Wait {count(index + 1)} of {count(inSpan.length)}
                  </b>
                  {isAllOfSite ? (
                    <>
                      <button
                        className="btn"
                        disabled={index === 0}
                        onClick={() => setChosen(index - 1)}
                      >
                        Previous
                      </button>
                      <button
                        className="btn"
                        disabled={index + 1 >= inSpan.length}
                        onClick={() => setChosen(index + 1)}
                      >
                        Next
                      </button>
                    </>
                  ) : (
                    <span className="faint">
                      other lines wait in between; this one is of this line
                    </span>
                  )}
                  <span className="dim num">
                    {exactTime(wait.start_ns)}, blocked {duration(wait.duration_ns)} in {wait.label}
                  </span>
                  <span className="grow" />
                  {cycle && (
                    <a
                      href={sessionHref(
                        session,
                        `timeline?from=${cycle.from_ns}&to=${cycle.to_ns}`,
                      )}
                    >
                      See it on the timeline
                    </a>
                  )}
                </div>
                {cycle && <Strip cycle={cycle} waits={waits} />}
                {cycle && <Launched session={session} cycle={cycle} />}
              </>
            )
          }
        </Ready>
      )}
    </div>
  );
}
