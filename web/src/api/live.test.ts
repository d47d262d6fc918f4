// SPDX-License-Identifier: Apache-2.0
import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { followEvents } from "./live";

class FakeSource {
  static readonly CLOSED = 2;
  static all: FakeSource[] = [];
  readyState = 1;
  onerror: (() => void) | null = null;
  private readonly listeners = new Map<string, (message: { data: string }) => void>();

  constructor(readonly url: string) {
    FakeSource.all.push(this);
  }
  addEventListener(name: string, listener: (message: { data: string }) => void): void {
    this.listeners.set(name, listener);
  }
  say(name: string, data: object): void {
    this.listeners.get(name)?.({ data: JSON.stringify(data) });
  }
  refuse(): void {
    this.readyState = FakeSource.CLOSED;
    this.onerror?.();
  }
  close(): void {
    this.readyState = FakeSource.CLOSED;
  }
}

// One tab leads at a time.
function fakeLocks() {
  let last: Promise<unknown> = Promise.resolve();
  return {
    request: (_name: string, _options: object, run: () => Promise<unknown>) => {
      last = last.then(run);
      return last;
    },
  };
}

class FakeChannel {
  static all: FakeChannel[] = [];
  onmessage: ((message: { data: unknown }) => void) | null = null;
  constructor() {
    FakeChannel.all.push(this);
  }
  postMessage(data: unknown): void {
    for (const other of FakeChannel.all) if (other !== this) other.onmessage?.({ data });
  }
  close(): void {}
}

function makeTab() {
  const client = new QueryClient();
  client.setQueryData(["/sessions", {}], {});
  client.setQueryData(["/sessions/a/kernels", {}], {});
  client.setQueryData(["/sessions/b", {}], {});
  const stop = followEvents(client);
  const old = () =>
    client
      .getQueryCache()
      .getAll()
      .filter(({ state }) => state.isInvalidated)
      .map(({ queryKey }) => queryKey[0]);
  const renew = () => {
    for (const query of client.getQueryCache().getAll()) query.setState({ isInvalidated: false });
  };
  return { old, renew, stop };
}

beforeEach(() => {
  vi.useFakeTimers();
  FakeSource.all = [];
  FakeChannel.all = [];
  vi.stubGlobal("EventSource", FakeSource);
  vi.stubGlobal("BroadcastChannel", FakeChannel);
  vi.stubGlobal("navigator", { locks: fakeLocks() });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("has one stream for all tabs, which learn what is out of date", async () => {
  const tabs = [makeTab(), makeTab(), makeTab()];
  await vi.advanceTimersByTimeAsync(10);
  expect(FakeSource.all.length).toBe(1);
  FakeSource.all[0]!.say("hello", { revision: 1 });
  expect(tabs.map(({ old }) => old())).toEqual([[], [], []]);
  FakeSource.all[0]!.say("session", { id: "a" });
  for (const { old } of tabs) expect(old()).toEqual(["/sessions", "/sessions/a/kernels"]);
  tabs.forEach(({ renew }) => renew());
  FakeSource.all[0]!.say("analysis", { session: "b" });
  for (const { old } of tabs) expect(old()).toEqual(["/sessions/b"]);
});

it("asks about a session that grows all the time once a second, and for its last growth too", async () => {
  const { old, renew } = makeTab();
  await vi.advanceTimersByTimeAsync(10);
  const grow = () => FakeSource.all[0]!.say("session", { id: "a" });
  grow();
  expect(old().length).toBe(2);
  renew();
  grow();
  grow();
  expect(old()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(old().length).toBe(2);
  renew();
  await vi.advanceTimersByTimeAsync(5000);
  expect(old()).toEqual([]);
  grow();
  expect(old().length).toBe(2);
});

it("has another tab take over, which looks at everything anew", async () => {
  const [first, second] = [makeTab(), makeTab()];
  await vi.advanceTimersByTimeAsync(5000);
  first.stop();
  await vi.advanceTimersByTimeAsync(10);
  expect(FakeSource.all.length).toBe(2);
  FakeSource.all[1]!.say("hello", { revision: 1 });
  expect(second.old().length).toBe(3);
});

it("asks once when it is refused, and again when it works", async () => {
  const { old, renew } = makeTab();
  await vi.advanceTimersByTimeAsync(10);
  FakeSource.all[0]!.say("hello", { revision: 1 });
  FakeSource.all[0]!.refuse();
  await vi.advanceTimersByTimeAsync(10);
  expect(old().length).toBe(3);
  renew();
  for (let i = 1; i < 4; ++i) {
    await vi.advanceTimersByTimeAsync(2000);
    FakeSource.all[i]!.refuse();
  }
  expect(old()).toEqual([]);
  await vi.advanceTimersByTimeAsync(2000);
  FakeSource.all[4]!.say("hello", { revision: 1 });
  expect(old().length).toBe(3);
});

it("asks now and then where tabs cannot agree, unless nobody looks", async () => {
  vi.stubGlobal("navigator", {});
  vi.stubGlobal("document", { visibilityState: "visible" });
  const { old, renew, stop } = makeTab();
  await vi.advanceTimersByTimeAsync(5000);
  expect(FakeSource.all.length).toBe(0);
  expect(old().length).toBe(3);
  renew();
  vi.stubGlobal("document", { visibilityState: "hidden" });
  await vi.advanceTimersByTimeAsync(5000);
  expect(old()).toEqual([]);
  stop();
});
