// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Session } from "../../api/types";
import {
  choices,
  membersText,
  nextSort,
  oldestFirst,
  rowsOf,
  startOf,
  summarize,
} from "./session_rows";

function session(id: string, run: string, more: Partial<Session> = {}): Session {
  return {
    id,
    run,
    path: id,
    state: "complete",
    app: "train",
    engine: "Trace",
    host: "node1",
    start_wall_ns: "1794850033754125033",
    duration_ns: 10,
    duration_is_lower_bound: false,
    kernels: 5,
    bytes: 100,
    rank: null,
    world_size: null,
    devices: [],
    tags: [],
    process: "python3",
    pid: 1,
    command: "python3 train.py",
    ...more,
  };
}

describe("rows of the list", () => {
  const sessions = [
    session("a", "one"),
    session("b1", "two", { rank: 1, world_size: 4, duration_ns: 30, host: "node2" }),
    session("c", "three"),
    session("b0", "two", { rank: 0, world_size: 4, start_wall_ns: "1794850033754125000" }),
  ];
  it("makes one row of a launch, where its first session stands", () => {
    const rows = rowsOf(sessions, new Set());
    expect(rows.map((row) => (row.kind === "run" ? row.run : row.session.id))).toEqual([
      "a",
      "two",
      "c",
    ]);
  });
  it("opens a launch in order of ranks", () => {
    const rows = rowsOf(sessions, new Set(["two"]));
    expect(rows.map((row) => (row.kind === "run" ? row.run : row.session.id))).toEqual([
      "a",
      "two",
      "b0",
      "b1",
      "c",
    ]);
    expect(rows.map((row) => row.kind === "session" && row.isInRun)).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
  });
});

describe("a launch as one", () => {
  it("has the earliest start, the longest duration and sums", () => {
    const run = summarize([
      session("b1", "two", { rank: 1, duration_ns: 30, host: "node2" }),
      session("b0", "two", { rank: 0, start_wall_ns: "1794850033754125000" }),
    ]);
    expect(run).toMatchObject({
      hosts: ["node2", "node1"],
      startWallNs: "1794850033754125000",
      durationNs: 30,
      kernels: 10,
      bytes: 200,
      ranks: 2,
      state: "complete",
    });
  });
  it("does not make up what one of its sessions does not know", () => {
    const run = summarize([
      session("x", "r", { kernels: null, duration_ns: null }),
      session("y", "r"),
    ]);
    expect(run.kernels).toBeNull();
    expect(run.isLowerBound).toBe(true);
  });
  it("has the state that matters most", () => {
    expect(summarize([session("x", "r"), session("y", "r", { state: "losses" })]).state).toBe(
      "losses",
    );
    expect(
      summarize([session("x", "r", { state: "live" }), session("y", "r", { state: "losses" })])
        .state,
    ).toBe("live");
  });
  it("says who is in it", () => {
    const ranks = [session("x", "r", { rank: 0, world_size: 8 }), session("y", "r", { rank: 1 })];
    expect(membersText(summarize(ranks), 2)).toBe("2 of 8 ranks");
    const copies = [session("x", "r", { rank: 1 }), session("y", "r", { rank: 1 })];
    expect(membersText(summarize(copies), 2)).toBe("2 sessions of one launch");
  });
});

it("offers what there is and what is chosen", () => {
  expect(choices(["b", "", "a10", "a9", "b"], "z")).toEqual(["a9", "a10", "b", "z"]);
});

it("sorts text from A and numbers from the largest, then the other way around", () => {
  expect(nextSort("-start", "app")).toBe("app");
  expect(nextSort("app", "app")).toBe("-app");
  expect(nextSort("-app", "app")).toBe("app");
  expect(nextSort("-start", "duration")).toBe("-duration");
  expect(nextSort("-duration", "duration")).toBe("duration");
});

it("puts what began first in front, and what does not say when at the end", () => {
  const known = [
    session("new", "", { start_wall_ns: "1794850033754125033" }),
    session("none", "", { start_wall_ns: null }),
    session("old", "", { start_wall_ns: "1794840033754125033" }),
  ];
  expect(oldestFirst(["none", "new", "old"], known)).toEqual(["old", "new", "none"]);
  expect(oldestFirst(["x", "none"], known)).toEqual(["x", "none"]);
});

describe("how a session was started", () => {
  it("is its command, or the folder that somebody gave it", () => {
    expect(startOf(session("a", "r"), "folder")).toBe("python3 train.py");
    expect(startOf(session("a", "r", { command: "", path: "logs/a" }), "folder")).toBe("logs/a");
  });
  it("is nothing where the folder is a server's number", () => {
    expect(startOf(session("a", "r", { command: "", path: "17" }), "workspace")).toBe("");
    expect(startOf(session("a", "r", { command: "", path: "." }), "link")).toBe("");
  });
});
