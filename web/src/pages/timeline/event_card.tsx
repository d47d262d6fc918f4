// SPDX-License-Identifier: Apache-2.0
// Everything that the log has of the selected event. Each value is copied by a click.
import { Problem } from "../../api/client";
import { classVariable } from "../../base/kernel_class";
import { kindOf, type Timeline, type TimelineState } from "../../timeline";
import { Copyable, Kbd, Swatch } from "../../widgets/parts";
import { eventWord, kindWord } from "../../timeline/tracks";
import { factsOf, rowOf } from "./event_facts";

function words(problem: unknown): string {
  if (problem instanceof Problem) return problem.detail || problem.title;
  return problem instanceof Error ? problem.message : String(problem);
}

export function EventCard({ timeline, state }: { timeline: Timeline; state: TimelineState }) {
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
  const isNamed = selected.label !== eventWord(kind);
  const { partner, frames = [] } = detail ?? {};
  return (
    <aside className="tlp-card" aria-label="Selected event">
      <header>
        <h3>
          {kind === "kernels" && <Swatch color={classVariable(selected.kernelClass)} />}
          <Copyable text={selected.name}>{selected.label}</Copyable>{" "}
          <span>{selected.kernelClass ?? (isNamed ? kindWord(kind) : "")}</span>
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
          <button className="btn" onClick={() => timeline.select(partner, true)}>
            {kind.endsWith("_calls") ? "Its work" : "Its call"}
          </button>
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
