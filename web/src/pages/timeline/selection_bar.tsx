// SPDX-License-Identifier: Apache-2.0
// What the selected range adds up to; without one, how to select and what colours mean.
import { useState } from "react";
import { Problem } from "../../api/client";
import { duration, exactTime } from "../../base/format";
import { CLASS_COLORS } from "../../base/kernel_class";
import type { Timeline, TimelineState, TrackKind } from "../../timeline";
import { isReading, kindWord } from "../../timeline/tracks";
import { Copyable, Swatch } from "../../widgets/parts";
import { TableTools } from "../../widgets/table_tools";
import { sessionHref } from "../session_frame";
import { countWords, type KindSum, sumKinds, timeWords } from "./selection_facts";

const CLASS_WORDS: Record<(typeof CLASS_COLORS)[number], string> = {
  matmul: "matrix product",
  elementwise: "elementwise",
  reduction: "reduction",
  norm: "normalization",
  copy: "copy",
  softmax: "softmax, attention",
  gather: "gather, sort",
  comm: "communication",
  other: "other",
};

function Legend() {
  return (
    <ul className="tlp-legend" aria-label="Colours of kernels">
      {CLASS_COLORS.map((color) => (
        <li key={color}>
          <Swatch color={`var(--k-${color})`} />
          {CLASS_WORDS[color]}
        </li>
      ))}
    </ul>
  );
}

function Name({
  session,
  kind,
  name,
  label,
}: {
  session: string;
  kind: TrackKind;
  name: string;
  label: string;
}) {
  const page = pageOf(kind, name);
  const text = label || kindWord(kind);
  if (page === null) return <Copyable text={name}>{text}</Copyable>;
  return (
    <a href={sessionHref(session, page)} title={name}>
      {text}
    </a>
  );
}

// Where all of a name is.
function pageOf(kind: TrackKind, name: string): string | null {
  if (kind === "kernels" || kind === "kernel_calls") return `kernels/${encodeURIComponent(name)}`;
  return kind === "scopes" ? `scopes?q=${encodeURIComponent(name)}` : null;
}

function tableOf(sums: KindSum[]): (string | number)[][] {
  return [
    ["kind", "name", "count", "open_before", "busy_ns"],
    ...sums.flatMap(({ words, names }) =>
      names.map(({ name, count: times, reaching, busyNs }) => [
        words,
        name,
        times,
        reaching,
        busyNs,
      ]),
    ),
  ];
}

function Names({ session, sums }: { session: string; sums: KindSum[] }) {
  return (
    <div className="tlp-names">
      <TableTools name="selection" table={() => tableOf(sums)} rows={sums} />
      {sums.map(({ kind, words, names, hasAllNames }) => (
        <table key={words}>
          <caption>
            Most time of {words}
            {!hasAllNames && ", as far as known: the range holds too many"}
          </caption>
          <tbody>
            {names.map(({ name, label, count: times, reaching, busyNs }) => (
              <tr key={name}>
                <td>
                  <Name session={session} kind={kind} name={name} label={label} />
                </td>
                <td className="num">
                  {countWords({ count: times, reaching })}
                  {reaching === 0 && "×"}
                </td>
                <td className="num">{duration(busyNs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}

interface BarProps {
  session: string;
  timeline: Timeline;
  state: TimelineState;
}

function ReadingsThen({ session, state, at }: Omit<BarProps, "timeline"> & { at: number }) {
  const hasReadings = state.description?.series.some(isReading) ?? false;
  if (!hasReadings) return null;
  return (
    <a className="btn" href={sessionHref(session, `health?at=${Math.round(at)}`)}>
      Readings then
    </a>
  );
}

function CursorPart({ session, timeline, state }: BarProps) {
  const { cursor } = state;
  if (cursor === null) return null;
  return (
    <>
      <span>
        Cursor at{" "}
        <Copyable text={String(cursor)}>{<b className="num">{exactTime(cursor)}</b>}</Copyable>
      </span>
      <ReadingsThen session={session} state={state} at={cursor} />
      <button className="btn" onClick={() => timeline.setCursor(null)}>
        Remove
      </button>
    </>
  );
}

export function SelectionBar({ session, timeline, state }: BarProps) {
  const { range, sums, sumsProblem } = state;
  const [isOpen, setIsOpen] = useState(false);
  const hasKernels = state.description?.tracks.some(({ kind }) => kind === "kernels") ?? false;
  if (!range) {
    return (
      <footer className="tlp-bar">
        <CursorPart session={session} timeline={timeline} state={state} />
        <span className="faint">
          {state.cursor === null
            ? "Shift-drag, or drag on the ruler, to add up a range; click the ruler for a cursor"
            : "Shift-drag, or drag on the ruler, to add up a range"}
        </span>
        <span className="grow" />
        {hasKernels && <Legend />}
      </footer>
    );
  }
  const length = range[1] - range[0];
  const kinds = sums ? sumKinds(sums, state.description?.tracks ?? []) : [];
  return (
    <>
      {isOpen && kinds.length > 0 && <Names session={session} sums={kinds} />}
      <footer className="tlp-bar" aria-live="polite">
        <span>
          Selection{" "}
          <Copyable text={String(length)}>{<b className="num">{duration(length)}</b>}</Copyable>
        </span>
        <span>
          from{" "}
          <Copyable text={String(range[0])}>
            {<b className="num">{exactTime(range[0])}</b>}
          </Copyable>
        </span>
        {kinds.map((sum) => (
          <span key={sum.words}>
            {sum.words} <b className="num">{countWords(sum)}</b>{" "}
            <span className="faint num">{timeWords(sum, length)}</span>
          </span>
        ))}
        {sums && kinds.length === 0 && <span className="faint">nothing happens in it</span>}
        {sumsProblem !== null && (
          <span role="alert">
            {sumsProblem instanceof Problem ? sumsProblem.message : "The sums are not known."}
          </span>
        )}
        <span className="grow" />
        <ReadingsThen session={session} state={state} at={(range[0] + range[1]) / 2} />
        <button
          className="btn"
          aria-expanded={isOpen}
          disabled={kinds.length === 0}
          onClick={() => setIsOpen(!isOpen)}
        >
          Names
        </button>
        <button className="btn" onClick={() => timeline.zoomToRange()}>
          Zoom
        </button>
        <button className="btn" onClick={() => timeline.setRange(null)}>
          Clear
        </button>
      </footer>
    </>
  );
}
