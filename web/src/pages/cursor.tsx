// SPDX-License-Identifier: Apache-2.0
// One cursor for a session: the moment that is kept on a page is marked on the timeline, and in the
// charts of health, memory and counters. The address of each holds it as `at`.
import { useCallback, useEffect, useRef, useState } from "react";
import { useViewParameter } from "../base/address";
import { moment } from "../base/format";
import { useKeys } from "../base/keys";
import { sessionHref } from "./session_frame";
import "./cursor.css";

let kept: { session: string; at: number } | null = null;

export function keepCursor(session: string, at: number | null): void {
  kept = at === null ? null : { session, at };
}

export function keptCursor(session: string): number | null {
  return kept?.session === session ? kept.at : null;
}

// The timeline's path from `before` to `after` a moment, with the cursor on it.
export function timelineAround(at: number, before: number, after = before): string {
  const moment = Math.round(at);
  const from = Math.max(0, Math.floor(moment - before));
  return `timeline?from=${from}&to=${Math.ceil(moment + after)}&at=${moment}`;
}

// What charts take.
export interface ChartCursor {
  cursor: number | null;
  onCursor: (ns: number | null) => void;
  onPick: (ns: number) => void;
}

export interface Cursor {
  // Kept, and not only under the pointer.
  pinned: number | null;
  chart: ChartCursor;
  remove: () => void;
}

export function momentOf(text: string | null): number | null {
  return text !== null && /^-?\d{1,16}$/.test(text) ? Number(text) : null;
}

export function useCursor(session: string): Cursor {
  const [text, setText] = useViewParameter("at");
  const [hovered, setHovered] = useState<number | null>(null);
  const pinned = momentOf(text);
  const isOpening = useRef(true);
  useEffect(() => {
    const before = isOpening.current ? keptCursor(session) : null;
    isOpening.current = false;
    if (pinned === null && before !== null) setText(String(before));
    else keepCursor(session, pinned);
  }, [session, pinned, setText]);
  const pick = useCallback((ns: number) => setText(String(Math.round(ns))), [setText]);
  const remove = useCallback(() => setText(null), [setText]);
  useKeys(pinned === null ? [] : [{ keys: "Escape", what: "Remove the cursor", run: remove }]);
  const chart = { cursor: hovered ?? pinned, onCursor: setHovered, onPick: pick };
  return { pinned, chart, remove };
}

// Above the charts of a page: what the cursor is for, or where it is. `around`: nanoseconds that the
// timeline shows on either side.
export function CursorBar({
  session,
  cursor: { pinned, remove },
  around,
}: {
  session: string;
  cursor: Cursor;
  around: number;
}) {
  return (
    <div className="cursor-bar">
      {pinned === null ? (
        <span className="dim">
          Move over a chart to read all of them at one time; click, or press Enter, to keep it.
        </span>
      ) : (
        <>
          <b className="num">At {moment(pinned)}</b>
          <a className="btn" href={sessionHref(session, timelineAround(pinned, around))}>
            See it on the timeline
          </a>
          <button className="btn" onClick={remove}>
            Remove the cursor
          </button>
        </>
      )}
    </div>
  );
}
