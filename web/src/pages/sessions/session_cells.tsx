// SPDX-License-Identifier: Apache-2.0
import type { MouseEvent } from "react";
import type { Session } from "../../api/types";
import { setViewParameters } from "../../base/address";
import { bytes, count, duration, plural, UNKNOWN, wallTime } from "../../base/format";
import { RowLink } from "../../widgets/row_link";
import { runHref, sessionHref, StateBadge } from "../session_frame";
import { membersText, type RunRow, startOf } from "./session_rows";

// A field's cell is not the row.
function alone(event: MouseEvent): void {
  event.stopPropagation();
}

function Time({ ns, isLowerBound }: { ns: number | null; isLowerBound: boolean }) {
  if (ns === null) return <span title="The log has no end">{UNKNOWN}</span>;
  if (!isLowerBound) return duration(ns);
  return <span title="The log has no end: this is the last sign of life">≥ {duration(ns)}</span>;
}

function Kernels({ of, engine }: { of: number | null; engine: string }) {
  if (of !== null) return count(of);
  const why =
    engine === "Monitor"
      ? "The engine Monitor records no kernels"
      : "The log has no ledger that counts them";
  return <span title={why}>{UNKNOWN}</span>;
}

function gpuText(devices: Session["devices"]): string {
  const names = new Map<string, number>();
  for (const { name } of devices) names.set(name, (names.get(name) ?? 0) + 1);
  return [...names].map(([name, n]) => (n > 1 ? `${n} × ${name}` : name)).join(", ");
}

export function SessionCells({
  session,
  isInRun,
  isChosen,
  onChoose,
  onTag,
}: {
  session: Session;
  isInRun: boolean;
  isChosen: boolean;
  onChoose: () => void;
  onTag: () => void;
}) {
  const name = session.app || session.id;
  const rank = session.rank === null ? null : `rank ${session.rank}`;
  const gpu = gpuText(session.devices);
  return (
    <>
      <span role="gridcell" className="c-choose" onClick={alone}>
        <input
          type="checkbox"
          checked={isChosen}
          onChange={onChoose}
          aria-label={`Choose ${name} of ${wallTime(session.start_wall_ns)} for a comparison`}
        />
      </span>
      <span role="gridcell" className={`c-program${isInRun ? " inner" : ""}`}>
        <span className="session-name">
          <RowLink href={sessionHref(session.id)}>{name}</RowLink>
          {rank !== null && <small>{rank}</small>}
          <small>{session.engine}</small>
          {session.tags.map((tag) => (
            <button
              className="chip session-has-tag"
              key={tag}
              title={`Only sessions tagged ${tag}`}
              onClick={() => setViewParameters({ tag })}
            >
              {tag}
            </button>
          ))}
          <button className="text-button session-tag" onClick={onTag}>
            {session.tags.length === 0 ? "+ tag" : "edit"}
            <span className="visually-hidden">, {name}</span>
          </button>
        </span>
        <span className="session-command mono" title={startOf(session)}>
          {startOf(session)}
        </span>
      </span>
      <span role="gridcell" className="c-state">
        <StateBadge session={{ ...session, kernels: null }} />
      </span>
      <span role="gridcell" className="c-host" title={session.host}>
        {session.host || <span title="The log does not name its host">{UNKNOWN}</span>}
      </span>
      <span role="gridcell" className="c-gpu" title={gpu}>
        {gpu || <span title="The log names no GPU">{UNKNOWN}</span>}
      </span>
      <span role="gridcell" className="c-started num">
        {wallTime(session.start_wall_ns)}
      </span>
      <span role="gridcell" className="c-duration number">
        <Time ns={session.duration_ns} isLowerBound={session.duration_is_lower_bound} />
      </span>
      <span role="gridcell" className="c-kernels number">
        <Kernels of={session.kernels} engine={session.engine} />
      </span>
      <span role="gridcell" className="c-bytes number">
        {bytes(session.bytes)}
      </span>
    </>
  );
}

export function RunCells({ row, toggle }: { row: RunRow; toggle: () => void }) {
  const { summary, sessions } = row;
  const gpus = gpuText(sessions.flatMap(({ devices }) => devices));
  const [first] = sessions;
  return (
    <>
      <span role="gridcell" className="c-choose">
        <button
          className="run-arrow"
          tabIndex={-1}
          aria-label={row.isOpen ? "Hide its sessions" : "Show its sessions"}
          title={row.isOpen ? "Hide its sessions" : "Show its sessions"}
          onClick={toggle}
        >
          {row.isOpen ? "▾" : "▸"}
        </button>
      </span>
      <span role="gridcell" className="c-program">
        <span className="session-name">
          <RowLink href={runHref(row.run)}>{summary.app || row.run}</RowLink>
          <small>{membersText(summary, sessions.length)}</small>
          <small>{summary.engines.join(", ")}</small>
        </span>
        <span className="session-command mono" title={first && startOf(first)}>
          {first && startOf(first)}
        </span>
      </span>
      <span role="gridcell" className="c-state">
        {first && <StateBadge session={{ ...first, state: summary.state, kernels: null }} />}
      </span>
      <span role="gridcell" className="c-host" title={summary.hosts.join(", ")}>
        {summary.hosts.length > 1
          ? plural(summary.hosts.length, "host")
          : (summary.hosts[0] ?? UNKNOWN)}
      </span>
      <span role="gridcell" className="c-gpu" title={gpus}>
        {gpus || UNKNOWN}
      </span>
      <span role="gridcell" className="c-started num">
        {wallTime(summary.startWallNs)}
      </span>
      <span role="gridcell" className="c-duration number" title="The longest of them">
        <Time ns={summary.durationNs} isLowerBound={summary.isLowerBound} />
      </span>
      <span role="gridcell" className="c-kernels number">
        <Kernels of={summary.kernels} engine={summary.engines.join()} />
      </span>
      <span role="gridcell" className="c-bytes number">
        {bytes(summary.bytes)}
      </span>
    </>
  );
}
