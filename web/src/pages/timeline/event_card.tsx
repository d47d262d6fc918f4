// SPDX-License-Identifier: Apache-2.0
// Everything that the log has of the selected event. Each value is copied by a click.
import { Problem } from "../../api/client";
import { classVariable } from "../../base/kernel_class";
import {
  type EventDetail,
  type EventRef,
  kindOf,
  type Timeline,
  type TimelineState,
} from "../../timeline";
import { Copyable, Kbd, Swatch } from "../../widgets/parts";
import { eventNote, eventTitle, isReading } from "../../timeline/tracks";
import { sessionHref } from "../session_frame";
import { factsOf, rowOf } from "./event_facts";

function words(problem: unknown): string {
  if (problem instanceof Problem) return problem.detail || problem.title;
  return problem instanceof Error ? problem.message : String(problem);
}

// Where more is known of it than of one event.
function pageOf({ track, name }: EventRef, detail: EventDetail | null): [string, string] | null {
  const kind = kindOf(track);
  if (kind === "kernels" || kind === "kernel_calls")
    return [`kernels/${encodeURIComponent(name)}`, "All launches"];
  const site = kind === "waits" ? detail?.site : null;
  if (site) return [`sync?line=${encodeURIComponent(`${site.file}:${site.line}`)}`, "The line"];
  if (kind === "scopes") return [`scopes?q=${encodeURIComponent(name)}`, "All of this name"];
  return null;
}

export function EventCard({
  session,
  timeline,
  state,
}: {
  session: string;
  timeline: Timeline;
  state: TimelineState;
}) {
  const { selected, detail, detailProblem } = state;
  if (!selected) {
    if (detailProblem === null) return null;
    return (
      <aside className="tlp-card" role="alert">
        <p>The linked event is not shown: {words(detailProblem)}</p>
        <button className="btn" onClick={() => timeline.select(null)}>
          Close
        </button>
      </aside>
    );
  }
  const kind = kindOf(selected.track);
  const { partner, frames = [] } = detail ?? {};
  const page = pageOf(selected, detail);
  const hasReadings = state.description?.series.some(isReading) ?? false;
  return (
    <aside className="tlp-card" aria-label="Selected event">
      <header>
        {kind === "kernels" && <Swatch color={classVariable(selected.kernelClass)} />}
        <h3>
          <Copyable text={selected.name}>{eventTitle(selected)}</Copyable>{" "}
          <span>{eventNote(selected)}</span>
        </h3>
        <button
          className="tlp-close"
          onClick={() => timeline.select(null)}
          aria-label="Close the card"
        >
          close
        </button>
      </header>
      <dl>
        {factsOf(selected, detail).map(({ label, value, copy, note }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <Copyable text={copy ?? value}>{value}</Copyable> {note && <span>{note}</span>}
            </dd>
          </div>
        ))}
      </dl>
      {detailProblem !== null && <p role="alert">The rest is not known: {words(detailProblem)}</p>}
      <div className="tlp-card-actions">
        <button className="btn" onClick={() => timeline.zoomToSelected()}>
          Zoom <Kbd>f</Kbd>
        </button>
        <button className="btn" onClick={() => timeline.mark()}>
          Mark <Kbd>m</Kbd>
        </button>
        {partner && (
          <button className="btn" onClick={() => timeline.selectPartner(partner)}>
            {kind.endsWith("_calls") ? "Its work" : "Its call"}
          </button>
        )}
        {page && (
          <a className="btn" href={sessionHref(session, page[0])}>
            {page[1]}
          </a>
        )}
        {hasReadings && (
          <a className="btn" href={sessionHref(session, `health?at=${selected.start}`)}>
            Health then
          </a>
        )}
      </div>
      {selected.name !== selected.label && (
        <details>
          <summary>Whole name</summary>
          <p className="mono tlp-whole">
            <Copyable text={selected.name} />
          </p>
        </details>
      )}
      {frames.length > 0 && (
        <details open>
          <summary>Stack</summary>
          <ol className="mono">
            {frames.map(({ text, origin }, i) => (
              <li key={i} className={origin === "user" ? "tlp-own" : ""}>
                <Copyable text={text} />
              </li>
            ))}
          </ol>
        </details>
      )}
      {detail && (
        <details>
          <summary>Row of the log</summary>
          <dl className="mono">
            {rowOf(detail).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <Copyable text={value} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </aside>
  );
}
