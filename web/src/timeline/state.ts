// SPDX-License-Identifier: Apache-2.0
// What a timeline shows, for whatever stands around it: a new object whenever something changed.
import type { Description, EventDetail, EventRef, TrackSum } from "./types";
import type { View } from "./view";

export interface SearchState {
  text: string;
  isBusy: boolean;
  matches: number | null;
  // Which of them is selected, from 1; null: none is, or nobody knows.
  at: number | null;
  problem: unknown;
}

export interface TimelineState {
  description: Description | null;
  view: View;
  // From the top, in pixels.
  scroll: number;
  // Everything is in view, and stays so while the session grows.
  isFitted: boolean;
  isFollowing: boolean;
  selected: EventRef | null;
  detail: EventDetail | null;
  detailProblem: unknown;
  range: readonly [number, number] | null;
  sums: readonly TrackSum[] | null;
  sumsProblem: unknown;
  // A moment that is marked through all tracks.
  cursor: number | null;
  pinned: readonly string[];
  toggled: ReadonlySet<string>;
  search: SearchState;
  // Of the requests for what is in view.
  problem: unknown;
}

export const NO_SEARCH: SearchState = {
  text: "",
  isBusy: false,
  matches: null,
  at: null,
  problem: null,
};

export const START: TimelineState = {
  description: null,
  view: { from: 0, to: 1e6 },
  scroll: 0,
  isFitted: true,
  isFollowing: false,
  selected: null,
  detail: null,
  detailProblem: null,
  range: null,
  sums: null,
  sumsProblem: null,
  cursor: null,
  pinned: [],
  toggled: new Set(),
  search: NO_SEARCH,
  problem: null,
};

export class Store {
  state: TimelineState = START;
  private readonly listeners = new Set<() => void>();

  set(change: Partial<TimelineState>): void {
    this.state = { ...this.state, ...change };
    // Those that come while the others are told hear of the next change.
    for (const listener of [...this.listeners]) listener();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}
