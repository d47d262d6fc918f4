// SPDX-License-Identifier: Apache-2.0
// The list itself: rows in view are drawn, the next page is fetched before its end is reached.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import type { Session } from "../../api/types";
import { navigate, setViewParameters } from "../../base/address";
import { useKeys } from "../../base/keys";
import { TableTools } from "../../widgets/table_tools";
import { openByKey, rowHandlers } from "../../widgets/row_link";
import { runAddress, sessionAddress } from "../session_frame";
import { RunCells, SessionCells } from "./session_cells";
import { type ListRow, nextSort, rowsOf } from "./session_rows";
import type { SessionList } from "./use_sessions";

const ROW_PX = 46;

interface Column {
  title: string;
  // As the server sorts; without one, it does not.
  sort?: string;
  isNumber?: boolean;
  name: string;
}

const COLUMNS: Column[] = [
  { title: "", name: "choose" },
  { title: "Program", sort: "app", name: "program" },
  { title: "State", name: "state" },
  { title: "Host", name: "host" },
  { title: "GPU", name: "gpu" },
  { title: "Started", sort: "start", name: "started" },
  { title: "Duration", sort: "duration", isNumber: true, name: "duration" },
  { title: "Kernels", sort: "kernels", isNumber: true, name: "kernels" },
  { title: "Log", sort: "bytes", isNumber: true, name: "bytes" },
];

// Those that were read so far: the list is read page by page.
function tableOf(sessions: Session[]): (string | number | null)[][] {
  return [
    ["id", "program", "state", "host", "started_ns", "duration_ns", "kernels", "bytes", "path"],
    ...sessions.map((session) => [
      session.id,
      session.app,
      session.state,
      session.host,
      session.start_wall_ns,
      session.duration_ns,
      session.kernels,
      session.bytes,
      session.path,
    ]),
  ];
}

function keyOf(row: ListRow | undefined): string {
  if (!row) return "";
  return row.kind === "run" ? `run ${row.run}` : row.session.id;
}

// A run leads to what is said of all its ranks.
function addressOf(row: ListRow): string {
  return row.kind === "run" ? runAddress(row.run) : sessionAddress(row.session.id);
}

export function SessionGrid({
  list,
  sessions,
  sort,
  chosen,
  onChoose,
  onTag,
}: {
  list: SessionList;
  sessions: Session[];
  sort: string;
  chosen: string[];
  onChoose: (session: Session) => void;
  onTag: (session: Session) => void;
}) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(0);
  const scroll = useRef<HTMLDivElement>(null);
  const gridId = useId();
  const rows = useMemo(() => rowsOf(sessions, open), [sessions, open]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
    initialRect: { width: 1000, height: 800 },
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - 20) list.loadMore();
  }, [last, rows.length, list]);

  const active = Math.min(at, rows.length - 1);
  const toggle = (run: string) => {
    const next = new Set(open);
    if (!next.delete(run)) next.add(run);
    setOpen(next);
  };
  const openRow = (row: ListRow) => navigate(addressOf(row));
  const move = (to: number) => {
    const next = Math.min(Math.max(to, 0), rows.length - 1);
    setAt(next);
    virtual.scrollToIndex(next);
  };
  const current = rows[active];
  useKeys([
    { keys: "j", what: "Next session", run: () => move(active + 1) },
    { keys: "k", what: "Session before", run: () => move(active - 1) },
    {
      keys: "x",
      what: "Choose the session for a comparison",
      run: () => {
        if (current?.kind === "session") onChoose(current.session);
      },
    },
    {
      keys: "e",
      what: "Edit its tags",
      run: () => {
        if (current?.kind === "session") onTag(current.session);
      },
    },
  ]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroll.current) return;
    const page = Math.floor((scroll.current?.clientHeight ?? 0) / ROW_PX) - 1;
    const steps: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    };
    const to = steps[event.key];
    if (to !== undefined) move(to);
    else if (event.key === "Enter" && current) {
      openByKey(event, `#${addressOf(current)}`, () => openRow(current));
    } else if (event.key === " " && current?.kind === "session") onChoose(current.session);
    else if (event.key === "ArrowRight" && current?.kind === "run" && !current.isOpen) {
      toggle(current.run);
    } else if (event.key === "ArrowLeft" && current?.kind === "run" && current.isOpen) {
      toggle(current.run);
    } else return;
    event.preventDefault();
  };

  return (
    <>
      <TableTools name="sessions" table={() => tableOf(sessions)} rows={sessions} />
      <div
        className="session-grid"
        ref={scroll}
        role="treegrid"
        aria-label="Sessions"
        aria-rowcount={list.hasMore ? -1 : rows.length + 1}
        aria-activedescendant={current ? `${gridId}-${active}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <div className="session-head session-columns" role="row">
          {COLUMNS.map(({ title, sort: by, isNumber, name }) => {
            const isUp = by !== undefined && sort === by;
            const isDown = by !== undefined && sort === `-${by}`;
            return (
              <span
                key={name}
                role="columnheader"
                className={`c-${name}${isNumber ? " number" : ""}`}
                aria-sort={isUp ? "ascending" : isDown ? "descending" : undefined}
              >
                {by === undefined ? (
                  title || <span className="visually-hidden">Choose</span>
                ) : (
                  <button onClick={() => setViewParameters({ sort: nextSort(sort, by) })}>
                    {title}
                    {isUp ? " ↑" : isDown ? " ↓" : ""}
                  </button>
                )}
              </span>
            );
          })}
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {items.map(({ index, start }) => {
            const row = rows[index] as ListRow;
            return (
              <div
                key={keyOf(row)}
                id={`${gridId}-${index}`}
                role="row"
                aria-rowindex={index + 2}
                aria-level={row.kind === "session" && row.isInRun ? 2 : 1}
                aria-expanded={row.kind === "run" ? row.isOpen : undefined}
                className={`session-row session-columns${index === active ? " active" : ""}`}
                style={{ transform: `translateY(${start}px)` }}
                onMouseDown={() => setAt(index)}
                {...rowHandlers(`#${addressOf(row)}`, () => openRow(row))}
              >
                {row.kind === "run" ? (
                  <RunCells row={row} toggle={() => toggle(row.run)} />
                ) : (
                  <SessionCells
                    session={row.session}
                    isInRun={row.isInRun}
                    isChosen={chosen.includes(row.session.id)}
                    onChoose={() => {
                      onChoose(row.session);
                      // Keys are not heard while a field has the focus.
                      setAt(index);
                      scroll.current?.focus({ preventScroll: true });
                    }}
                    onTag={() => onTag(row.session)}
                  />
                )}
              </div>
            );
          })}
        </div>
        {list.isLoadingMore && <p className="session-more">Loading more …</p>}
      </div>
    </>
  );
}
