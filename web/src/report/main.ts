// SPDX-License-Identifier: Apache-2.0
// The script of the HTML report: the dashboard's timeline over what the page itself holds, and
// tables that can be sorted. `./dev web report` makes src/report/html/assets from it.
import { duration, plural } from "../base/format";
import { createTimeline, type EventRef, MemorySource, type Timeline } from "../timeline";
import { isClosed } from "../timeline/layout";
import { tickLabel, tickStep } from "../timeline/ruler";
import { around, spanOf, type View } from "../timeline/view";
import { factsOf, showFacts } from "./chosen";
import { type Inside, insideDuring, type Picture, readPicture, type ReportData } from "./picture";
import { makeSortable } from "./sort_table";
import "../styles/tokens.css";
import "./report.css";

const ZOOM = 0.6;
// What takes less of a view than one in so many has no room to be seen.
const MOST_NARROW = 4;
// Answers from memory come within this many turns.
const TURNS = 8;
const PIXELS = 1000;

function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found;
}

// With as many digits as tell it from what is a pixel away.
function startOf(view: View): string {
  const step = tickStep(spanOf(view) / PIXELS);
  return tickLabel(Math.round(view.from / step) * step, step, Math.abs(view.from));
}

class ReportTimeline {
  private readonly plot = part("plot");
  private readonly find = part("find") as HTMLInputElement;
  private readonly source: MemorySource;
  private readonly timeline: Timeline;
  private toggled: ReadonlySet<string> = new Set();
  // Groups are being opened for something else to be seen.
  private isQuiet = false;

  constructor(private readonly report: ReportData) {
    this.source = new MemorySource(report.data);
    this.timeline = createTimeline(this.plot, this.source, { listensToKeys: true, isInPage: true });
    this.listen();
    this.timeline.subscribe(() => this.show());
    this.show();
  }

  // Draws until everything is there, without waiting for a frame: paper has none.
  async draw(): Promise<void> {
    await this.source.describe();
    this.measure();
    while (this.timeline.redraw()) for (let turn = 0; turn < TURNS; ++turn) await null;
  }

  // A stretch of time with some of what is around it, and what is inside of kernels then.
  mark(from: number, to: number): void {
    this.open(insideDuring(this.report.inside, from, to));
    this.timeline.select(null);
    this.timeline.setRange([from, to]);
    const margin = (to - from) * 0.25;
    this.timeline.moveTo({ from: from - margin, to: to + margin });
    part("timeline").scrollIntoView({ block: "center" });
  }

  private measure(): void {
    this.plot.style.setProperty("--full", `${this.timeline.fullHeight}px`);
  }

  private isOpen({ group }: Inside): boolean {
    const found = this.report.data.description.groups?.find(({ id }) => id === group);
    return found !== undefined && !isClosed(found, this.timeline.state.toggled);
  }

  private setOpen(groups: readonly Inside[], isOpen: boolean): void {
    for (const entry of groups) {
      if (this.isOpen(entry) !== isOpen) this.timeline.toggle(entry.group);
    }
  }

  private open(groups: readonly Inside[]): void {
    this.isQuiet = true;
    this.setOpen(groups, true);
    this.isQuiet = false;
  }

  private insideOf({ track, start, end, label }: EventRef): Inside[] {
    if (!track.startsWith("kernels:")) return [];
    return insideDuring(this.report.inside, start, Math.max(end, start + 1), label);
  }

  private openEvent(event: EventRef): void {
    const groups = this.insideOf(event);
    if (groups.length === 0) return;
    this.open(groups);
    this.timeline.moveTo(around(event.start, event.end, this.timeline.whole()));
  }

  // Goes to what was opened, where it would be too narrow to be seen.
  private afterToggle(): void {
    const { toggled } = this.timeline.state;
    if (toggled === this.toggled) return;
    const before = this.toggled;
    this.toggled = toggled;
    queueMicrotask(() => this.measure());
    const opened = this.report.inside.filter(
      (entry) => toggled.has(entry.group) !== before.has(entry.group) && this.isOpen(entry),
    );
    if (this.isQuiet || opened.length === 0) return;
    const from = Math.min(...opened.map((entry) => entry.from));
    const to = Math.max(...opened.map((entry) => entry.to));
    const { view } = this.timeline;
    if ((to - from) * MOST_NARROW > view.to - view.from) return;
    const margin = (to - from) * 0.1;
    this.timeline.moveTo({ from: from - margin, to: to + margin });
  }

  private show(): void {
    this.afterToggle();
    const { state } = this.timeline;
    const { view, search, selected, range } = state;
    part("timeline").querySelector(".view")!.textContent =
      `${startOf(view)} + ${duration(spanOf(view))}`;
    const isCounted = search.text !== "" && search.text === this.find.value.trim();
    part("matches").textContent =
      isCounted && search.matches !== null ? plural(search.matches, "match", "matches") : "";
    const inside = part("inside");
    inside.hidden = this.report.inside.length === 0;
    const isOpen = this.report.inside.some((entry) => this.isOpen(entry));
    inside.setAttribute("aria-pressed", String(isOpen));
    const buttons: [string, () => void][] = [];
    if (selected) {
      buttons.push(["Zoom to it", () => this.timeline.zoomToSelected()]);
      if (this.insideOf(selected).length > 0) {
        buttons.push(["What its warps did", () => this.openEvent(selected)]);
      }
    } else if (range) {
      buttons.push(["Zoom to it", () => this.timeline.zoomToRange()]);
    }
    buttons.push(["Clear", () => this.timeline.clearSelection()]);
    showFacts(part("chosen"), factsOf(state), buttons);
  }

  private listen(): void {
    const { timeline, find } = this;
    const press = (id: string, act: () => void) => part(id).addEventListener("click", act);
    press("in", () => timeline.zoomBy(ZOOM));
    press("out", () => timeline.zoomBy(1 / ZOOM));
    press("all", () => timeline.fit());
    press("inside", () => {
      const { inside } = this.report;
      this.setOpen(inside, !inside.some((entry) => this.isOpen(entry)));
    });
    find.addEventListener("input", () => {
      timeline.highlight(find.value);
      this.show();
    });
    find.addEventListener("keydown", ({ key, shiftKey }) => {
      if (key === "Enter")
        timeline.search(find.value.trim(), shiftKey ? "backward" : "forward", true);
    });
    this.plot.addEventListener("dblclick", () => {
      const { selected } = timeline.state;
      if (selected) this.openEvent(selected);
    });
    this.plot.addEventListener("keydown", ({ key }) => {
      if (key === "+" || key === "=") timeline.zoomBy(ZOOM);
      if (key === "-") timeline.zoomBy(1 / ZOOM);
    });
    // Paper is white and has room for all tracks.
    matchMedia("print").addEventListener("change", () => void this.draw());
  }
}

document.querySelectorAll<HTMLTableElement>("table.sortable").forEach(makeSortable);
const picture = document.getElementById("picture");
if (picture) {
  const title = document.querySelector("h1")?.textContent ?? "";
  const timeline = new ReportTimeline(
    readPicture(JSON.parse(picture.textContent ?? "") as Picture, title),
  );
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a.moment")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const from = Number(link.dataset["from"]);
      timeline.mark(from, Math.max(Number(link.dataset["to"]), from + 1));
    });
  }
  void timeline.draw().then(() => {
    document.documentElement.dataset["ready"] = String(Math.round(performance.now()));
  });
}
