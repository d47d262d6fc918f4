// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { Store } from "../../timeline/state";
import type { View } from "./align";
import { follow, type Followed } from "./follow";

// Shows a view at once and tells it a moment later, as a timeline does.
class Slow implements Followed {
  readonly store = new Store();
  view = this.store.state.view;

  get state() {
    return this.store.state;
  }
  subscribe = (listener: () => void) => this.store.subscribe(listener);
  setView(view: View): void {
    this.view = view;
  }
  tell(): void {
    this.store.set({ view: this.view });
  }
}

function pairOf(view: View, by: number) {
  const [first, second] = [new Slow(), new Slow()];
  const sent = new Map<Followed, View>();
  const shown = { from: view.from + by, to: view.to + by };
  first.setView(view);
  second.setView(shown);
  sent.set(second, shown);
  follow(first, second, by, sent);
  follow(second, first, -by, sent);
  return { first, second };
}

describe("timelines that move together", () => {
  const start = { from: 50e6, to: 90e6 };

  it("keep what they were opened with, whatever else they tell first", () => {
    const { first, second } = pairOf(start, 5e6);
    // Of a description that came, with the view as it was before.
    first.store.set({ problem: null });
    second.store.set({ problem: null });
    first.tell();
    second.tell();
    expect(first.view).toEqual(start);
    expect(second.view).toEqual({ from: 55e6, to: 95e6 });
  });
  it("follow the one that is moved, and stop there", () => {
    const { first, second } = pairOf(start, 5e6);
    first.tell();
    second.tell();
    second.setView({ from: 60e6, to: 70e6 });
    second.tell();
    expect(first.view).toEqual({ from: 55e6, to: 65e6 });
    first.tell();
    expect(second.view).toEqual({ from: 60e6, to: 70e6 });
  });
});

it("a store tells those that were there when something changed", () => {
  const store = new Store();
  let later = 0;
  const stop = store.subscribe(() => {
    stop();
    store.subscribe(() => ++later);
  });
  store.set({ cursor: 1 });
  expect(later).toBe(0);
  store.set({ cursor: 2 });
  expect(later).toBe(1);
});
