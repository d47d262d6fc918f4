// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import type { EventEntry } from "../../api/types";
import { readLink, spanningEvent, writeLink } from "./view_link";

const STATE = {
  view: { from: 100.4, to: 2000.2 },
  isFitted: false,
  selected: {
    track: "kernels:0:1:7",
    row: 0,
    event: "device.1.4.0",
    start: 1,
    end: 2,
    label: "a",
    name: "a",
  },
  range: [-5, 900] as const,
  cursor: 0,
  pinned: ["scopes:9"],
  toggled: new Set(["gpu:0", "warps:1"]),
  scroll: 340,
  search: { text: "a b&c", isBusy: false, matches: 3, at: null, problem: null },
  isFollowing: true,
};

it("brings a view back from its address", () => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(writeLink(STATE, true)))
    if (value !== null) search.set(name, value);
  expect(readLink(new URLSearchParams(search.toString()))).toEqual({
    view: { from: 100, to: 2001 },
    event: { id: "device.1.4.0", track: "kernels:0:1:7", start: 1 },
    range: [-5, 900],
    span: null,
    cursor: 0,
    pinned: ["scopes:9"],
    toggled: ["gpu:0", "warps:1"],
    scroll: 340,
    search: "a b&c",
    isFollowing: true,
  });
});

it("leaves out what is as it starts", () => {
  const plain = {
    ...STATE,
    isFitted: true,
    selected: null,
    range: null,
    cursor: null,
    pinned: [],
    toggled: new Set<string>(),
    scroll: 0,
    search: { ...STATE.search, text: "" },
    isFollowing: false,
  };
  expect(Object.values(writeLink(plain, false)).every((value) => value === null)).toBe(true);
});

it("takes an event alone and refuses nonsense", () => {
  expect(readLink(new URLSearchParams("event=device.1.4.0")).event).toEqual({
    id: "device.1.4.0",
    track: null,
    start: null,
  });
  expect(readLink(new URLSearchParams("event=waits:7/device.1.4.0")).event).toEqual({
    id: "device.1.4.0",
    track: "waits:7",
    start: null,
  });
  const link = readLink(new URLSearchParams("from=9&to=3&sel=a,b&at=1e3"));
  expect([link.view, link.range, link.cursor]).toEqual([null, null, null]);
});

it("finds the event that a link tells by its times", () => {
  const { span } = readLink(new URLSearchParams("span=100,150"));
  expect(span).toEqual([100, 150]);
  const event = (track: string, start_ns: number, duration_ns: number): EventEntry => ({
    event: `${track} ${start_ns}`,
    track,
    row: 0,
    start_ns,
    duration_ns,
    label: "a",
  });
  const others = [event("scopes:1", 100, 50), event("kernels:0:1:7", 100, 51)];
  expect(spanningEvent(others, span!)?.track).toBe("scopes:1");
  expect(spanningEvent([...others, event("kernels:0:1:8", 100, 50)], span!)?.track).toBe(
    "kernels:0:1:8",
  );
  expect(spanningEvent([event("waits:1", 101, 49)], span!)).toBeNull();
});
