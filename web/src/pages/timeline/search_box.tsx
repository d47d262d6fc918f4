// SPDX-License-Identifier: Apache-2.0
// Finds events by name: how many there are, and the next or the one before.
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { count, plural } from "../../base/format";
import { useKeys } from "../../base/keys";
import type { Timeline, TimelineState } from "../../timeline";
import { Kbd } from "../../widgets/parts";

const AFTER_MS = 220;

export function SearchBox({ timeline, state }: { timeline: Timeline; state: TimelineState }) {
  const input = useRef<HTMLInputElement>(null);
  const { search } = state;
  const [text, setText] = useState(search.text);
  const asked = useRef(search.text);
  const ask = useCallback(
    (wanted: string) => {
      asked.current = wanted;
      timeline.search(wanted);
    },
    [timeline],
  );
  // A link that is opened has its own; what comes back of our own is older than what was typed since.
  useEffect(() => {
    const current = timeline.state.search.text;
    if (current === asked.current) return;
    asked.current = current;
    setText(current);
  }, [search.text, timeline]);
  useEffect(() => {
    if (text === timeline.state.search.text) return;
    const timer = setTimeout(() => ask(text), AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, timeline, ask]);
  const go = (direction: "forward" | "backward") => timeline.search(text, direction, true);
  useKeys([
    { keys: "/", what: "Search events", run: () => input.current?.focus() },
    { keys: "n", what: "Next match", run: () => text !== "" && go("forward") },
    { keys: "N", what: "Match before", run: () => text !== "" && go("backward") },
  ]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (text === search.text) go(event.shiftKey ? "backward" : "forward");
      else ask(text);
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      setText("");
      input.current?.blur();
    }
  };
  const said =
    text === ""
      ? ""
      : search.problem !== null
        ? "search failed"
        : search.matches === null
          ? ""
          : search.at !== null
            ? `${count(search.at)} of ${count(search.matches)}`
            : plural(search.matches, "match", "matches");
  const isFound = (search.matches ?? 0) > 0;
  return (
    <div className="tlp-search" role="search">
      <input
        ref={input}
        type="search"
        placeholder="Search events"
        aria-label="Search events by name"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
      />
      {text === "" ? (
        <Kbd>/</Kbd>
      ) : (
        <>
          <span className="num" aria-live="polite">
            {said}
          </span>
          <button disabled={!isFound} onClick={() => go("backward")} aria-label="Match before">
            ↑
          </button>
          <button disabled={!isFound} onClick={() => go("forward")} aria-label="Next match">
            ↓
          </button>
        </>
      )}
    </div>
  );
}
