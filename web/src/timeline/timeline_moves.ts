// SPDX-License-Identifier: Apache-2.0
// What of a timeline is in view: the stretch of time, how far it is scrolled, and which tracks are
// open or pinned.
import { RULER_PX } from "./draw_frame";
import { Hover } from "./hover";
import { layOut, type Layout, mostScroll } from "./layout";
import { Motion } from "./motion";
import { Store, type TimelineState } from "./state";
import type { Group } from "./tracks";
import type { EventRef } from "./types";
import { clampView, fit, pan, type View, zoom } from "./view";

export interface TimelineOptions {
  // Small and part of a page: nothing is pinned or selected, and the page keeps its wheel.
  isCompact?: boolean;
  // Called when an event is pressed in a compact timeline, or Enter where it listens to keys.
  onOpen?: (event: EventRef) => void;
  // Where no page does it.
  listensToKeys?: boolean;
  // In a page that scrolls on where the timeline ends.
  isInPage?: boolean;
}

const TELL_VIEW_MS = 120;

export abstract class TimelineMoves {
  protected readonly store = new Store();
  protected readonly hover = new Hover();
  protected readonly motion = new Motion();
  protected groups: Group[] = [];
  protected layout: Layout = { pinned: [], pinnedHeight: 0, scrolled: [], height: 0 };
  protected scroll = 0;
  width = 1;
  protected height = 1;
  protected tellTimer = 0;
  protected areLabelsOld = true;

  constructor(protected readonly options: TimelineOptions) {}

  // Something has to be drawn.
  protected abstract wake(): void;

  get state(): TimelineState {
    return this.store.state;
  }

  subscribe = (listener: () => void): (() => void) => this.store.subscribe(listener);

  whole(): View {
    return fit(this.state.description?.span ?? null);
  }

  protected atEnd(): View {
    const { to } = this.whole();
    return { from: to - (this.view.to - this.view.from), to };
  }

  protected relayout(): void {
    const { toggled, pinned } = this.state;
    const isCompact = this.options.isCompact ?? false;
    this.layout = layOut(this.groups, { toggled, pinned, isCompact });
    this.scrollTo(this.scroll);
    this.areLabelsOld = true;
    this.wake();
  }

  // ---- Moving

  get view(): View {
    return this.motion.view;
  }

  setView(view: View): void {
    this.motion.set(clampView(view, this.whole()));
    this.stopFollowing();
    this.tellView();
    this.wake();
  }

  moveTo(view: View, isFitted = false): void {
    this.motion.goTo(clampView(view, this.whole()));
    this.stopFollowing(isFitted);
    this.tellView();
    this.wake();
  }

  protected stopFollowing(isFitted = false): void {
    if (this.state.isFitted !== isFitted || this.state.isFollowing) {
      this.store.set({ isFitted, isFollowing: false });
    }
  }

  fit(): void {
    this.moveTo(this.whole(), true);
  }

  zoomBy(factor: number): void {
    const at = this.hover.point ? this.hover.point.x / this.width : 0.5;
    this.moveTo(zoom(this.motion.target, this.whole(), at, factor));
  }

  // In parts of what is in view.
  moveBy(part: number): void {
    this.moveTo(pan(this.motion.target, this.whole(), part));
  }

  follow(isFollowing: boolean): void {
    this.store.set({ isFollowing, isFitted: false });
    if (isFollowing) this.motion.set(this.atEnd());
    this.tellView();
    this.wake();
  }

  scrollBy(dy: number): boolean {
    const before = this.scroll;
    this.scrollTo(this.scroll + dy);
    const { isCompact, isInPage } = this.options;
    if (this.scroll !== before) return true;
    return !isCompact && !isInPage && mostScroll(this.layout, this.height - RULER_PX) > 0;
  }

  scrollPages(by: number): void {
    this.scrollBy(by * this.room * 0.9);
  }

  protected scrollTo(y: number): void {
    const next = Math.min(Math.max(y, 0), mostScroll(this.layout, this.height - RULER_PX));
    if (next === this.scroll) return;
    this.scroll = next;
    this.areLabelsOld = true;
    this.tellView();
    this.wake();
  }

  setScroll(y: number): void {
    this.scrollTo(y);
  }

  // ---- Tracks

  toggle(id: string): void {
    const toggled = new Set(this.state.toggled);
    if (!toggled.delete(id)) toggled.add(id);
    this.store.set({ toggled });
    this.relayout();
  }

  pin(id: string): void {
    const { pinned } = this.state;
    const isPinned = pinned.includes(id);
    this.store.set({ pinned: isPinned ? pinned.filter((one) => one !== id) : [...pinned, id] });
    this.relayout();
  }

  setTracks(pinned: readonly string[], toggled: readonly string[]): void {
    this.store.set({ pinned, toggled: new Set(toggled) });
    this.relayout();
  }

  // What all tracks would take.
  get fullHeight(): number {
    return this.layout.height + this.height - this.room;
  }

  protected get room(): number {
    return this.height - RULER_PX - this.layout.pinnedHeight;
  }

  protected tellView(): void {
    if (this.tellTimer !== 0) return;
    this.tellTimer = window.setTimeout(() => this.tellViewNow(), TELL_VIEW_MS);
  }

  // For who reads the state before anything moves.
  tellViewNow(): void {
    clearTimeout(this.tellTimer);
    this.tellTimer = 0;
    this.store.set({ view: this.motion.target, scroll: Math.round(this.scroll) });
  }
}
