// SPDX-License-Identifier: Apache-2.0
// A timeline in an element: what is selected, and one loop that draws when something changed. It is
// fed by a source and knows nothing of where data comes from.
import { listenToKeys } from "./actions";
import { Asks } from "./asks";
import { makeDom, type TimelineDom } from "./dom";
import { drawFrame, makeLists, RULER_PX, type Scene } from "./draw_frame";
import { Fetcher } from "./fetcher";
import { levelOf } from "./fetch_plan";
import { gesturesOf } from "./gestures";
import { finder, type Hit, hitTest, sameEvent, type StepHit } from "./hit";
import type { Point } from "./hover";
import { listen } from "./input";
import { Labels } from "./labels";
import { mostScroll, placeOf, visibleItems } from "./layout";
import { Painter } from "./painter";
import { readPalette } from "./palette";
import { Scales } from "./scales";
import { Stepper } from "./stepper";
import { densestStep, isExactAt } from "./steps";
import { describeEvent } from "./tooltip";
import { TimelineMoves, type TimelineOptions } from "./timeline_moves";
import { groupTracks } from "./tracks";
import type { Description, Direction, EventRef, SeriesPicture, TimelineSource } from "./types";
import { metricValue } from "./units";
import { around, pan, reveal, revealBoth, timeOf, type View } from "./view";
import "./timeline.css";

const SLACK_PX = 3;
// Beyond what is in view, so that scrolling finds it there.
const AHEAD_PX = 300;
// What is not there within this time is shown to be unknown: until then most of it comes.
const UNKNOWN_AFTER_MS = 250;

export class Timeline extends TimelineMoves {
  private readonly dom: TimelineDom;
  private readonly painter: Painter;
  private readonly fetcher: Fetcher;
  private readonly asks: Asks;
  private readonly stepper: Stepper;
  private readonly labels: Labels;
  private readonly lists = makeLists();
  private readonly scales = new Scales();
  private readonly over = new AbortController();
  private readonly resize: ResizeObserver;

  private scale = 1;
  private frame = 0;
  private charWidth = 7;
  private isFound: Scene["isFound"] = null;
  // Since when something in view has no picture; null: all of it has one.
  private unknownSince: number | null = null;
  private unknownTimer = 0;
  // The end of the range that keys moved last.
  private head: number | null = null;

  constructor(container: HTMLElement, source: TimelineSource, options: TimelineOptions = {}) {
    super(options);
    const { signal } = this.over;
    const canPin = !options.isCompact;
    this.labels = new Labels({
      toggle: (id) => this.toggle(id),
      pin: (id) => this.pin(id),
      canPin,
    });
    this.dom = makeDom(container, this.labels.element, this.hover.tip.element, (share) =>
      this.scrollTo(share * mostScroll(this.layout, this.height - RULER_PX)),
    );
    this.painter = new Painter(this.dom.canvas, readPalette(container));
    this.fetcher = new Fetcher(source, {
      onWake: () => this.wake(),
      onAnswer: () => {
        if (this.state.problem !== null) this.store.set({ problem: null });
        this.renewSelected();
      },
      onSeries: (series) => this.receive(series),
      onProblem: (problem) => this.store.set({ problem }),
    });
    this.asks = new Asks(source, this.store);
    this.stepper = new Stepper(this.store, this.asks, this.segmentsOf, (event, isRevealed) =>
      this.select(event, isRevealed),
    );
    this.store.subscribe(() => this.wake());
    const gestures = gesturesOf(this, options.isCompact ?? false, options.onOpen);
    listen(this.dom.plot, gestures, signal);
    if (options.listensToKeys) listenToKeys(this.dom.root, this, signal, options.onOpen);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", () => this.redraw(), { signal });
    this.resize = new ResizeObserver(() => this.measure());
    this.resize.observe(this.dom.plot);
    this.measure();
  }

  destroy(): void {
    this.over.abort();
    this.resize.disconnect();
    this.fetcher.stop();
    this.asks.stop();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.tellTimer);
    clearTimeout(this.unknownTimer);
    this.dom.root.remove();
  }

  // ---- What there is

  setDescription(description: Description): void {
    this.groups = groupTracks(description);
    this.store.set({ description, problem: null });
    const { isFollowing, isFitted } = this.state;
    if (isFitted) this.motion.set(this.whole());
    else if (isFollowing) this.motion.prepare(this.atEnd());
    this.dom.canvas.setAttribute("aria-label", `Timeline of ${description.process}`);
    this.relayout();
    this.tellView();
    // Without waiting for a frame, but for a view that is set right after.
    queueMicrotask(() => this.ask());
  }

  private receive(series: readonly SeriesPicture[]): void {
    this.scales.grow(series, this.state.description?.series ?? []);
    this.areLabelsOld = true;
  }

  pinSelected(): void {
    if (this.state.selected) this.pin(this.state.selected.track);
  }

  // ---- Selecting

  select(event: EventRef | null, isRevealed = false): void {
    this.asks.select(event);
    if (event && this.state.isFollowing) this.follow(false);
    this.dom.live.textContent = event ? describeEvent(event) : "";
    if (event && isRevealed) this.reveal(event);
    this.wake();
  }

  // By its id, as an address has it.
  selectById(id: string, track: string | null, at: number | null, isRevealed: boolean): void {
    this.select(null);
    this.asks.find(id, track, at, (event) => this.select(event, isRevealed));
  }

  // Ids of a session that is recorded change when its window is sealed.
  private renewSelected(): void {
    const { selected } = this.state;
    if (!selected || !this.state.description?.isLive) return;
    const now = sameEvent(selected, this.segmentsOf(selected.track));
    if (now && now.event !== selected.event) this.store.set({ selected: now });
  }

  private reveal(event: EventRef): void {
    const view = reveal(this.motion.target, this.whole(), event.start, event.end);
    if (view !== this.motion.target) this.moveTo(view);
    this.revealRow(event);
  }

  // The call behind what is selected, or its work: with both in view, the arrow says what it means.
  selectPartner(partner: EventRef): void {
    const { selected } = this.state;
    this.select(partner);
    const events = selected ? [selected, partner] : [partner];
    const start = Math.min(...events.map((event) => event.start));
    const end = Math.max(...events.map((event) => event.end));
    const view = revealBoth(this.motion.target, this.whole(), start, end);
    if (view !== this.motion.target) this.moveTo(view);
    this.revealRow(partner);
  }

  private revealRow(event: EventRef): void {
    if (!placeOf(this.layout, event.track, this.scroll)) {
      const group = this.groups.find(({ leaves }) => leaves.some(({ id }) => id === event.track));
      if (group) this.toggle(group.id);
    }
    const place = placeOf(this.layout, event.track, this.scroll);
    if (!place || place.isPinned) return;
    const top = place.item.y + event.row * place.item.rowHeight;
    if (top < this.scroll) this.scrollTo(top - 30);
    else if (top + place.item.rowHeight > this.scroll + this.room)
      this.scrollTo(top - this.room / 2);
  }

  // Moves the end of the range that was moved last, in parts of what is in view.
  extendRange(part: number): void {
    const { range, selected } = this.state;
    const { from, to } = this.motion.target;
    const middle = Math.round((from + to) / 2);
    const [begin, end] = range ?? (selected ? [selected.start, selected.end] : [middle, middle]);
    const isKept = range !== null && this.head !== null && range.includes(this.head);
    const head = isKept ? this.head! : part > 0 ? end : begin;
    const anchor = head === end ? begin : end;
    const next = Math.round(head + part * (to - from));
    this.head = next;
    this.setRange(next < anchor ? [next, anchor] : [anchor, Math.max(next, anchor + 1)]);
    if (next < from || next > to) this.moveTo(pan(this.motion.target, this.whole(), part * 2));
  }

  clearSelection(): void {
    if (this.state.selected || this.state.detailProblem) this.select(null);
    else if (this.state.range) this.setRange(null);
    else this.setCursor(null);
  }

  setCursor(cursor: number | null): void {
    if (cursor !== this.state.cursor) this.store.set({ cursor });
  }

  // At the pointer; without one at the selected event, or in the middle.
  placeCursor(): void {
    const { from, to } = this.view;
    const { point } = this.hover;
    const elsewhere = this.state.selected?.start ?? (from + to) / 2;
    this.setCursor(Math.round(point ? timeOf(this.view, this.width, point.x) : elsewhere));
  }

  setRange(range: readonly [number, number] | null): void {
    this.asks.setRange(range);
    this.wake();
  }

  mark(): void {
    const { selected } = this.state;
    if (selected) this.setRange([selected.start, Math.max(selected.end, selected.start + 1)]);
  }

  zoomToSelected(): void {
    const { selected, range } = this.state;
    if (selected) this.moveTo(around(selected.start, selected.end, this.whole()));
    else if (range) this.zoomToRange();
  }

  zoomToRange(): void {
    const { range } = this.state;
    if (range) this.moveTo({ from: range[0], to: range[1] });
  }

  selectIn(step: StepHit): boolean {
    return this.stepper.selectIn(step);
  }

  // Where events are too many to be told apart, it zooms in first.
  step(by: 1 | -1): void {
    const near = visibleItems(this.layout.scrolled, this.scroll, this.scroll + this.height);
    if (this.stepper.step(by, near, this.view)) return;
    const { selected } = this.state;
    if (selected) {
      if (!isExactAt(selected, this.segmentsOf(selected.track))) this.zoomToSelected();
      else this.stepper.stepFar(selected, by, this.view, this.bounds());
      return;
    }
    const dense = densestStep(near, this.view, this.segmentsOf);
    if (dense && !this.selectIn(dense)) this.moveTo(around(dense.from, dense.to, this.whole()));
  }

  stepRow(by: 1 | -1): void {
    this.stepper.stepRow(by, this.layout, this.view);
  }

  search(text: string, direction: Direction = "forward", isNext = false): void {
    const { selected } = this.state;
    const here = isNext && selected ? selected.start : null;
    const after = here === null ? null : direction === "forward" ? here + 1 : here;
    this.isFound = finder(text);
    this.asks.search(text, after, direction, (event) => this.select(event, true));
    this.wake();
  }

  // As a link has it: matches are counted and stand out, and what is selected stays.
  showSearch(text: string): void {
    this.isFound = finder(text);
    this.asks.search(text, null, "forward", null);
    this.wake();
  }

  // Draws faintly what does not have this in its name.
  highlight(text: string): void {
    this.isFound = finder(text);
    this.wake();
  }

  // ---- Drawing

  // At once, in the size and the colours that the page has now. True: there is more to come.
  redraw(): boolean {
    this.painter.palette = readPalette(this.dom.root);
    this.measure();
    return this.fetcher.isBusy;
  }

  private readonly segmentsOf = (id: string) =>
    this.fetcher.tracksIn(id, this.view, levelOf(this.view, this.dom.canvas.width));

  private measure(): void {
    const { plot, canvas } = this.dom;
    this.width = Math.max(plot.clientWidth, 1);
    const before = this.height;
    this.height = Math.max(plot.clientHeight, 1);
    this.scale = Math.min(window.devicePixelRatio || 1, 2);
    canvas.width = Math.round(this.width * this.scale);
    canvas.height = Math.round(this.height * this.scale);
    this.painter.scale = this.scale;
    this.charWidth = this.painter.widthOf("0123456789", Math.round(11 * this.scale)) / 10;
    this.scrollTo(this.scroll);
    // What stands below took the room of the row that it is about.
    if (this.state.selected && this.height < before) this.revealRow(this.state.selected);
    this.areLabelsOld = true;
    this.draw(performance.now());
  }

  protected override wake(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame((now) => this.draw(now));
  }

  private draw(now: number): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.motion.advance(now);
    if (this.motion.isMoving) this.wake();
    else if (this.hover.point) this.lookUnder(this.hover.point);
    this.noteUnknown(drawFrame(this.scene(now), this.lists), now);
    this.painter.paint(this.lists);
    if (this.areLabelsOld) {
      this.areLabelsOld = false;
      this.labels.update(this.layout, this.scroll, this.height, this.scales.rangeOf);
      this.dom.showScroll(this.scroll, this.layout.height, this.room, this.height - this.room);
    }
    this.ask();
  }

  private noteUnknown(isUnknown: boolean, now: number): void {
    if (isUnknown === (this.unknownSince !== null)) return;
    this.unknownSince = isUnknown ? now : null;
    clearTimeout(this.unknownTimer);
    if (isUnknown) this.unknownTimer = window.setTimeout(() => this.wake(), UNKNOWN_AFTER_MS + 1);
  }

  private scene(now: number): Scene {
    const { selected, detail, range, cursor } = this.state;
    const width = this.dom.canvas.width;
    const level = levelOf(this.view, width);
    const whole = this.bounds();
    const isLate = this.unknownSince !== null && now - this.unknownSince >= UNKNOWN_AFTER_MS;
    return {
      view: this.view,
      whole,
      showsUnknown: isLate || this.state.problem !== null,
      width,
      height: this.dom.canvas.height,
      scale: this.scale,
      textOn: this.painter.palette.textOn,
      shorten: this.painter.shorten,
      layout: this.layout,
      scroll: this.scroll,
      tracksOf: (id) => this.fetcher.tracksIn(id, this.view, level),
      seriesOf: (id) => this.fetcher.seriesIn(id, this.view, level),
      wholeSeriesOf: (id) => this.fetcher.wholeSeries(id, whole),
      scaleOf: this.scales.of,
      selected,
      partner: detail?.partner ?? null,
      work: detail?.work ?? [],
      hovered: this.hover.event,
      range,
      cursor,
      isFound: this.isFound,
      charWidth: this.charWidth,
    };
  }

  private bounds(): View {
    const span = this.state.description?.span;
    return span ? { from: span[0], to: span[1] + 1 } : { from: 0, to: 1 };
  }

  private ask(): void {
    const { description } = this.state;
    if (!description?.span) return;
    const tracks: string[] = [];
    const series: string[] = [];
    const { scroll, room } = this;
    const near = visibleItems(this.layout.scrolled, scroll - AHEAD_PX, scroll + room + AHEAD_PX);
    for (const { kind, id } of [...this.layout.pinned, ...near]) {
      if (kind === "track") tracks.push(id);
      else if (kind === "series") series.push(id);
    }
    const wanted = {
      view: this.motion.wanted,
      whole: this.bounds(),
      pixels: this.dom.canvas.width,
      version: description.version,
      tracks,
      series,
    };
    if (this.fetcher.want(wanted)) this.motion.arrive();
    if (this.motion.isMoving) this.wake();
    const isBusy = this.state.problem === null && this.fetcher.lacks(wanted);
    this.dom.root.setAttribute("aria-busy", String(isBusy));
  }

  // ---- Pointer and keys

  hitAt({ x, y }: Point): Hit | null {
    if (y < RULER_PX) return null;
    const time = timeOf(this.view, this.width, x);
    const slack = (SLACK_PX / this.width) * (this.view.to - this.view.from);
    return hitTest(this.layout, this.scroll, y - RULER_PX, time, slack, this.segmentsOf);
  }

  private lookUnder(point: Point): void {
    const time = timeOf(this.view, this.width, point.x);
    const hit = this.hitAt(point);
    this.hover.look(this.dom, point, time, hit, hit && this.readingAt(hit, time));
  }

  private readingAt({ item }: Hit, time: number): string | null {
    const series = item.leaf?.series;
    if (!series) return null;
    const level = levelOf(this.view, this.dom.canvas.width);
    const value = this.fetcher.readingAt(item.id, time, this.view, level, this.bounds());
    return value === null ? null : metricValue(series.metric, value, series.kind);
  }

  setPointer(point: Point | null): void {
    if (point) this.hover.point = point;
    else this.hover.leave(this.dom);
    this.wake();
  }
}
