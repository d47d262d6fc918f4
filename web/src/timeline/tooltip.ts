// SPDX-License-Identifier: Apache-2.0
// What is under the pointer, in words: beside the pointer, and for screen readers.
import { count, duration, exactTime, percent, plural } from "../base/format";
import type { Hit } from "./hit";
import { eventNote, eventTitle, eventWord, kindWord, lengthWord } from "./tracks";
import { type EventRef, kindOf } from "./types";

export interface TipLine {
  title: string;
  note: string;
  rows: readonly (readonly [string, string])[];
}

export function describeEvent(event: EventRef): string {
  const wordOf = event.merged ? kindWord : eventWord;
  const length = duration(event.end - event.start);
  const title = event.merged ? plural(event.merged.count, "event") : eventTitle(event);
  return `${title}, ${wordOf(kindOf(event.track))}, ${length}, begins at ${exactTime(event.start)}`;
}

// `reading`: the value of a series there.
export function tipOf(hit: Hit, reading: string | null): TipLine | null {
  if (hit.kind === "event") {
    const { event } = hit;
    const kind = kindOf(event.track);
    const rows: [string, string][] = [
      [event.merged ? "duration" : lengthWord(kind), duration(event.end - event.start)],
      ["start", exactTime(event.start)],
    ];
    if (event.event === null) rows.push(["end", "still running"]);
    if (event.merged) {
      const { count, busyNs } = event.merged;
      rows.unshift(["most time", event.label], ["busy", duration(busyNs)]);
      return {
        title: plural(count, "event"),
        note: `${kindWord(kind)} too close to tell apart`,
        rows,
      };
    }
    return { title: eventTitle(event), note: eventNote(event), rows };
  }
  if (hit.kind === "step") {
    const { step } = hit;
    const share = step.busyNs / (step.to - step.from);
    const kind = kindWord(kindOf(step.track));
    return {
      title: plural(step.count, "event"),
      note: `${kind} that begin here`,
      rows: [
        ["most time", step.label],
        // More than one at a time: of the row for what found no room.
        share > 1 ? ["at once", `about ${count(Math.round(share))}`] : ["busy", percent(share)],
        ["in", `${duration(step.to - step.from)} from ${exactTime(step.from)}`],
      ],
    };
  }
  if (hit.item.kind === "series" && reading !== null) {
    return { title: reading, note: hit.item.label, rows: [] };
  }
  return null;
}

export class Tooltip {
  readonly element = document.createElement("div");

  constructor() {
    this.element.className = "tl-tip";
    this.element.hidden = true;
  }

  hide(): void {
    this.element.hidden = true;
  }

  show(tip: TipLine, x: number, y: number, width: number, height: number): void {
    const { element } = this;
    const title = document.createElement("b");
    title.textContent = tip.title;
    const note = document.createElement("span");
    note.textContent = tip.note;
    const head = document.createElement("p");
    head.append(title, " ", note);
    const list = document.createElement("dl");
    for (const [name, value] of tip.rows) {
      const term = document.createElement("dt");
      term.textContent = name;
      const text = document.createElement("dd");
      text.textContent = value;
      list.append(term, text);
    }
    element.replaceChildren(head, ...(tip.rows.length > 0 ? [list] : []));
    element.hidden = false;
    const { offsetWidth, offsetHeight } = element;
    const left = x + 14 + offsetWidth > width ? x - 10 - offsetWidth : x + 14;
    const top = y + 16 + offsetHeight > height ? y - 8 - offsetHeight : y + 16;
    element.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
  }
}
