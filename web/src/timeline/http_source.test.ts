// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, it, vi } from "vitest";
import { describe as describeSession, HttpSource } from "./http_source";
import { Pending } from "./types";

const entry = (event: string, track: string, start_ns: number, duration_ns: number) => ({
  event,
  track,
  row: 0,
  start_ns,
  duration_ns,
  label: "gemm",
});
const ROW = { name: "_Z4gemm", start_ns: 200, duration_ns: 50 };
const AROUND = {
  event: entry("device.1.4.0", "kernels:0:1:7", 200, 50),
  class: "matmul",
  call: entry("device.1.4.0", "kernel_calls:9", 120, 30),
  work: [],
  scopes: [{ ...entry("scope.1.1.0", "scopes:9", 0, 900), label: "step" }],
  markers: [
    { ...entry("scope.1.2.0", "markers:9", 90, 99), label: "linear", domain: "torch.op" },
    { ...entry("scope.1.3.0", "markers:9", 95, 88), label: "mine", domain: null },
  ],
  site: null,
  frames: [],
};
const KERNEL = { ...ROW, around: AROUND };
const SITE = { text: "train.py:41", file: "/w/train.py", line: 41, source: null };
const FRAME = { text: "step at /w/train.py:41", origin: "user" };
const OPERATOR = {
  around: { ...AROUND, call: null, markers: [], site: SITE, frames: [FRAME] },
};

// Answers by the start of the path.
function serve(answers: Record<string, unknown>, status = 200): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(decodeURIComponent(url));
    const path = new URL(url, "http://x/").pathname.replace("/api/v1/sessions/s%201", "");
    const key = Object.keys(answers).find((name) => path === name) ?? "";
    return Promise.resolve(new Response(JSON.stringify(answers[key]), { status }));
  });
  return asked;
}
afterEach(() => vi.unstubAllGlobals());

const TRACKS = {
  version: 4,
  is_live: false,
  is_complete: true,
  indexed: { bytes: 1, of: 2 },
  span: [0, 10] as [number, number],
  tracks: ["kernels:0:1:7", "kernel_calls:9", "scopes:9", "markers:9"].map((id) => ({
    id,
    kind: id.split(":")[0] as "kernels",
    rows: 1,
    events: 1,
    busy_ns: 0,
    span: null,
  })),
  series: [],
  problems: [],
};

describe("http source", () => {
  const source = new HttpSource("s 1", { process: "train", devices: [] });

  it("asks for all tracks at once", async () => {
    const asked = serve({ "/tiles": { version: 4, tracks: [], names: {} } });
    await source.tile({ from: 0, to: 64, width: 4, tracks: ["a:1", "b:2"], maxEvents: 9 });
    expect(asked).toEqual([
      "./api/v1/sessions/s 1/tiles?from=0&to=64&width=4&max_events=9&tracks=a:1,b:2",
    ]);
  });
  it("describes a session, and says when it cannot yet", async () => {
    serve({ "/tracks": TRACKS });
    expect(await source.describe()).toMatchObject({ version: 4, progress: 0.5, process: "train" });
    serve({ "/tracks": { progress: 0.4 } }, 202);
    await expect(source.describe()).rejects.toBeInstanceOf(Pending);
  });
  const selected = {
    track: "kernels:0:1:7",
    row: 0,
    event: "device.1.4.0",
    start: 200,
    end: 250,
    label: "gemm",
    name: "gemm",
  };
  it("has the partner of an event and what was open around it", async () => {
    const asked = serve({ "/events/device.1.4.0": KERNEL, "/events/scope.1.2.0": OPERATOR });
    const detail = await source.detail(selected);
    expect(detail.partner).toMatchObject({ track: "kernel_calls:9", start: 120, end: 150 });
    expect(detail.scopes).toEqual(["step"]);
    expect(detail.markers).toEqual([
      { label: "linear", domain: "torch.op" },
      { label: "mine", domain: "" },
    ]);
    expect(detail.values).toEqual(ROW);
    // It has no stack of its own.
    expect(detail.site).toEqual(SITE);
    expect(detail.frames).toEqual([FRAME]);
    expect(asked.length).toBe(2);
    const call = await source.detail({ ...selected, track: "kernel_calls:9", start: 120 });
    expect(call.partner).toMatchObject({ track: "kernels:0:1:7", kernelClass: "matmul" });
  });
  it("finds an event by its id, on the track that a link names", async () => {
    serve({ "/events/device.1.4.0": KERNEL });
    expect(await source.find("device.1.4.0", null, null)).toMatchObject({ start: 200, end: 250 });
    expect(await source.find("device.1.4.0", "kernel_calls:9", null)).toMatchObject({ start: 120 });
    await expect(source.find("device.1.4.0", "waits:9", null)).rejects.toThrow("not on");
  });
  it("has what the nodes of a graph did", async () => {
    const graph = entry("device.1.9.0", "graphs:0:1:7", 200, 50);
    const work = [entry("device.1.4.0", "kernels:0:1:7", 210, 5)];
    serve({ "/events/device.1.9.0": { around: { ...AROUND, event: graph, markers: [], work } } });
    const found = await source.find("device.1.9.0", "graphs:0:1:7", null);
    expect((await source.detail(found)).work).toMatchObject([{ start: 210, end: 215 }]);
  });
  it("asks once for an event that is found and then shown", async () => {
    const asked = serve({ "/events/device.1.4.0": KERNEL, "/events/scope.1.2.0": OPERATOR });
    const found = await source.find("device.1.4.0", "kernels:0:1:7", null);
    await source.detail(found);
    await source.detail(found);
    expect(asked.filter((url) => url.endsWith("device.1.4.0")).length).toBe(2);
  });
  it("finds an event whose window was sealed meanwhile", async () => {
    source.use(TRACKS);
    const row = { row: 0, is_exact: true, start_ns: [200], duration_ns: [50], name: [1] };
    const other = { around: { ...AROUND, event: entry("device.2.9.0", "kernels:0:1:7", 7, 1) } };
    serve({
      "/events/device.2.9.0": other,
      "/events/device.2.1.5": { ...KERNEL, around: { ...AROUND, frames: [FRAME] } },
      "/tiles": {
        version: 4,
        tracks: [{ id: "kernels:0:1:7", rows: [{ ...row, event: ["device.2.1.5"] }] }],
        names: { kernels: { "1": { label: "gemm" } } },
      },
    });
    const detail = await source.detail({ ...selected, event: "device.2.9.0" });
    expect(detail.values).toEqual(ROW);
    const found = await source.find("device.2.9.0", "kernels:0:1:7", 200);
    expect(found).toMatchObject({ start: 200, event: "device.1.4.0" });
  });
  it("asks again where the server has no time", async () => {
    serve({ "/tiles": { title: "busy" } }, 503);
    const asked = source.tile({ from: 0, to: 64, width: 4, tracks: ["a:1"], maxEvents: 9 });
    await expect(asked).rejects.toBeInstanceOf(Pending);
  });
});

it("shows the whole session, with the time before and after what happened", () => {
  const facts = { process: "train", devices: [] };
  const json = {
    version: 1,
    is_live: false,
    is_complete: true,
    indexed: { bytes: 1, of: 1 },
    span: [44_000, 230_000] as [number, number],
    tracks: [],
    series: [],
    problems: [],
  };
  expect(describeSession(json, facts).span).toEqual([44_000, 230_000]);
  expect(describeSession(json, { ...facts, lengthNs: 261_000 }).span).toEqual([0, 261_000]);
  // Readings go on while the process ends, and clocks differ.
  const late = { ...json, span: [-5, 300_000] as [number, number] };
  expect(describeSession(late, { ...facts, lengthNs: 261_000 }).span).toEqual([-5, 300_000]);
  expect(describeSession({ ...json, span: null }, { ...facts, lengthNs: 9 }).span).toBeNull();
});
