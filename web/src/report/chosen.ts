// SPDX-License-Identifier: Apache-2.0
// What is selected in the timeline, in words below it: an event, or what a stretch of time holds.
import { count, duration, exactTime, percent, plural } from "../base/format";
import type { TimelineState } from "../timeline";
import { eventNote, eventTitle, kindWord } from "../timeline/tracks";
import { type Description, type EventRef, kindOf, type TrackSum } from "../timeline/types";

export interface Facts {
  title: string;
  note: string;
  // The whole name of something that has a short one.
  whole: string;
  rows: (readonly [string, string])[];
  table: readonly string[][];
}

const MOST_TRACKS = 24;
const COLUMNS = ["track", "events that begin", "time", "most of it"];

export function factsOfEvent(event: EventRef): Facts {
  const { label, name, merged } = event;
  const length = event.end - event.start;
  const rows: [string, string][] = [
    ["duration", duration(length)],
    ["start", exactTime(event.start)],
  ];
  if (merged) rows.push(["busy", `${duration(merged.busyNs)}, ${percent(merged.busyNs / length)}`]);
  if (merged) rows.push(["most time", label]);
  return {
    title: merged ? plural(merged.count, "event") : eventTitle(event),
    note: merged ? kindWord(kindOf(event.track)) : eventNote(event),
    whole: name === label ? "" : name,
    rows,
    table: [],
  };
}

function trackNames({ groups = [] }: Description): Map<string, string> {
  const names = new Map<string, string>();
  for (const { title, leaves } of groups) {
    for (const { id, section, label } of leaves) {
      names.set(id, [title, section, label].filter((part) => part !== "").join(" · "));
    }
  }
  return names;
}

export function factsOfRange(
  [from, to]: readonly [number, number],
  sums: readonly TrackSum[] | null,
  description: Description,
): Facts {
  const names = trackNames(description);
  const used = (sums ?? []).filter((sum) => sum.count > 0 || sum.busyNs > 0);
  const table = used.slice(0, MOST_TRACKS).map((sum) => {
    const [first] = sum.names;
    const most = first ? `${first.label}, ${duration(first.busyNs)}` : "";
    return [names.get(sum.id) ?? sum.id, count(sum.count), duration(sum.busyNs), most];
  });
  const left = used.length - table.length;
  if (left > 0) table.push([`and ${plural(left, "more track")}`, "", "", ""]);
  return {
    title: `${duration(to - from)} selected`,
    note: `from ${exactTime(from)} to ${exactTime(to)}`,
    whole: "",
    rows: [],
    table: table.length > 0 ? [COLUMNS, ...table] : [],
  };
}

export function factsOf({ selected, range, sums, description }: TimelineState): Facts | null {
  if (selected) return factsOfEvent(selected);
  return range && description ? factsOfRange(range, sums, description) : null;
}

function element(name: string, text: string, className = ""): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  if (className !== "") made.className = className;
  return made;
}

function tableOf([head = [], ...rows]: readonly string[][]): HTMLElement {
  const line = (cell: string, texts: readonly string[]) => {
    const row = document.createElement("tr");
    row.append(...texts.map((text, i) => element(cell, text, i === 0 || i === 3 ? "left" : "")));
    return row;
  };
  const top = document.createElement("thead");
  top.append(line("th", head));
  const body = document.createElement("tbody");
  body.append(...rows.map((row) => line("td", row)));
  const table = document.createElement("table");
  table.append(top, body);
  const box = element("div", "", "table");
  box.append(table);
  return box;
}

// `buttons`: what can be done with it, by what they say.
export function showFacts(
  panel: HTMLElement,
  facts: Facts | null,
  buttons: readonly (readonly [string, () => void])[],
): void {
  panel.hidden = facts === null;
  if (!facts) return;
  const head = element("p", "");
  head.append(element("b", facts.title), ` ${facts.note} `);
  for (const [text, press] of buttons) {
    const button = element("button", text);
    button.addEventListener("click", press);
    head.append(button);
  }
  const list = document.createElement("dl");
  for (const [name, value] of facts.rows) list.append(element("dt", name), element("dd", value));
  panel.replaceChildren(
    head,
    ...(facts.whole === "" ? [] : [element("code", facts.whole)]),
    ...(facts.rows.length > 0 ? [list] : []),
    ...(facts.table.length > 0 ? [tableOf(facts.table)] : []),
  );
}
