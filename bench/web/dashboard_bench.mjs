// SPDX-License-Identifier: Apache-2.0
// How the dashboard feels over a session of ten million kernels, in Debian's Chromium without a GPU.
//
//   dashboard_bench.mjs GPUFL INDEX_BENCH [--rows N] [--only PART,...] [--soak] [--live-minutes N]
//                       [--json FILE]
//
// Parts: sizes (scripts, compressed), paint (from opening the address to all tracks in view), motion
// (frames while zooming and dragging), times (what the page says of events, against the log), overlap
// (10,000 kernels at once), live (memory of the page that follows kernels as they are recorded: a
// minute, ten with --soak).
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { Figures } from "./figures.mjs";
import { grow, measureLive } from "./live.mjs";
import { measureMotion } from "./motion.mjs";
import { measureOverlap, OVERLAP, writeOverlap } from "./overlap.mjs";
import { measurePaint, measureWithoutIndex } from "./paint.mjs";
import { measureSizes } from "./sizes.mjs";
import { measureTimes } from "./times.mjs";

const PARTS = ["sizes", "paint", "motion", "times", "overlap", "live"];
const SOAK_MINUTES = 10;

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: "string", default: "10000000" },
    only: { type: "string", default: PARTS.join(",") },
    soak: { type: "boolean", default: false },
    "live-minutes": { type: "string" },
    json: { type: "string" },
  },
});
const [gpufl, indexBench] = positionals;
process.env.GPUFL_PROGRAMS = dirname(gpufl);
const harness = await import("../../web/e2e/harness.mjs").catch(() => null);
if (harness === null || harness.whyNoBrowser) {
  const why = harness?.whyNoBrowser || "the pages' packages are not there: ./dev setup web";
  console.log(`skipped: ${why}`);
  process.exit(0);
}
const { launch, Recorder, Server, whyNoWriters } = harness;

function idOf(folder) {
  return JSON.parse(readFileSync(join(folder, "manifest.ndjson"), "utf8").split("\n")[0])
    .session_id;
}

function makeSession(folder, rows) {
  const made = join(folder, "made");
  const { error } = spawnSync(indexBench, ["--rows", String(rows), "--keep", made]);
  if (error) throw error;
  const session = idOf(join(made, "many"));
  const kept = join(folder, "logs", session);
  renameSync(join(made, "many"), kept);
  rmSync(made, { recursive: true });
  return [session, kept];
}

// Until every row is in the index.
async function indexed(server, session) {
  while (!(await server.ask(`/sessions/${session}/tracks`)).is_complete) {
    await new Promise((later) => setTimeout(later, 100));
  }
}

async function liveSession(server) {
  for (;;) {
    const { sessions } = await server.ask("/sessions?state=live");
    if (sessions.length > 0) return sessions[0].id;
    await new Promise((later) => setTimeout(later, 100));
  }
}

const steps = [];
async function main(folder) {
  const parts = options.only.split(",");
  const isWanted = (...names) => names.some((name) => parts.includes(name));
  const figures = new Figures();
  const browser = await launch({ after: (step) => steps.push(step) });
  const logs = join(folder, "logs");
  const start = async (cache) => {
    const server = await Server.start(logs, cache);
    steps.push(() => server.stop());
    return server;
  };
  mkdirSync(logs);
  const rows = Number(options.rows);
  const [session, kept] = isWanted("paint", "motion", "times") ? makeSession(folder, rows) : [];
  if (isWanted("overlap")) writeOverlap(join(logs, OVERLAP));
  const server = await start(join(folder, "cache"));
  if (!(await (await fetch(server.origin)).text()).includes('id="root"')) {
    console.log("skipped: gpufl was built without the dashboard");
    return 0;
  }
  if (isWanted("sizes")) await measureSizes(browser, server, figures);
  if (session) await indexed(server, session);
  if (isWanted("paint")) await measurePaint(browser, server, session, figures);
  if (isWanted("motion")) await measureMotion(browser, server, session, figures);
  if (isWanted("times")) {
    await measureTimes(browser, server, gpufl, kept, session, rows, figures);
  }
  if (isWanted("overlap")) await measureOverlap(browser, server, figures);
  if (isWanted("paint")) {
    await measureWithoutIndex(browser, start, join(folder, "empty"), session, figures);
  }
  if (isWanted("live") && whyNoWriters) console.log(`live: skipped: ${whyNoWriters}`);
  if (isWanted("live") && !whyNoWriters) {
    const minutes = Number(options["live-minutes"] ?? (options.soak ? SOAK_MINUTES : 1));
    const growing = grow(new Recorder(join(logs, "live")));
    steps.push(() => growing.stop());
    const id = await liveSession(server);
    await measureLive(browser, server, id, minutes, figures);
  }
  return figures.write("dashboard_bench", browser.version(), options.json);
}

const folder = mkdtempSync(join(tmpdir(), "gpufl-dashboard-"));
try {
  process.exitCode = await main(folder);
} finally {
  for (const step of steps.reverse()) await step();
  rmSync(folder, { recursive: true, force: true });
}
