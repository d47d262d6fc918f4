// SPDX-License-Identifier: Apache-2.0
// 10,000 kernels that run at the same time: each is drawn or counted, and each can be selected.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawn, openContext, showView } from "./page.mjs";
import { saidOf } from "./times.mjs";

export const OVERLAP = "overlap";
const KERNELS = 10_000;
const EVERY_NS = 1000;
const LENGTH_NS = 2 * KERNELS * EVERY_NS;
const TRACK = "kernels:0:1:7";
const REST_ROW = 128;
const ROW_PX = 20;
// Of an address: as far down as the rows go.
const LAST_ROWS = 100_000;
const SELECTED = 200;
const MOST_SHOWN = 10;

const startOf = (kernel) => EVERY_NS * (kernel + 1);

export function writeOverlap(folder) {
  mkdirSync(folder, { recursive: true });
  const session = {
    type: "session",
    format: 1,
    session_id: OVERLAP,
    run_id: OVERLAP,
    app_name: "overlap",
    gpufl_version: "0.1.0",
    engine: "Trace",
    backend: "nvidia",
    start_wall_ns: "1794760072205796129",
    start_monotonic_ns: "369640094425",
    clock_error_ns: 35,
    pid: 1,
    process: "overlap",
    host: "bench",
  };
  const config = { name: 1, grid: [1, 1, 1], block: [32, 1, 1], registers: 16 };
  const start = Array.from({ length: KERNELS }, (_, kernel) => startOf(kernel));
  const lines = [
    session,
    { type: "dict", dict: "name", ids: [1], values: ["overlapping"] },
    { type: "dict", dict: "config", ids: [1], values: [config] },
    {
      type: "kernel",
      n: KERNELS,
      span: [start[0], start.at(-1) + LENGTH_NS],
      config: 1,
      device: 0,
      context: 1,
      stream: 7,
      correlation: start.map((_, kernel) => kernel),
      thread: 1,
      scope: 0,
      inherited: 0,
      graph: 0,
      graph_node: "0",
      external: "0",
      start,
      dur: LENGTH_NS,
      api_start: -1,
      api_dur: 0,
    },
  ];
  const text = (list) => list.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(folder, "device.log"), text(lines));
  writeFileSync(join(folder, "manifest.ndjson"), text([session]));
}

async function listed(server) {
  const found = new Set();
  for (let from = 0; from !== null;) {
    const path = `/sessions/${OVERLAP}/events?tracks=${TRACK}&starts_from=${from}`;
    const { events, next_from } = await server.ask(path);
    for (const { start_ns, duration_ns } of events) {
      if (duration_ns === LENGTH_NS) found.add(start_ns);
    }
    from = next_from;
  }
  return found;
}

// Of the last picture that the page asked for.
function counted(tile) {
  const rows = tile.tracks.find(({ id }) => id === TRACK).rows;
  return rows.reduce(
    (sum, row) =>
      sum + (row.is_exact ? row.event.length : row.count.reduce((all, one) => all + one, 0)),
    0,
  );
}

// The row of what found no room, at the moment that a kernel begins.
async function select(page, kernel) {
  const from = startOf(kernel) - 500;
  const to = from + 1000;
  const view = `from=${from}&to=${to}&top=${LAST_ROWS}`;
  const plot = await showView(page, `/s/${OVERLAP}/timeline?${view}`);
  const x = plot.left + Math.round(plot.width / 2);
  const y = plot.trackTop + (REST_ROW + 0.5) * ROW_PX;
  await page.mouse.move(x - 1, y);
  await page.mouse.move(x, y);
  const isOne = () => document.querySelector(".tl-tip:not([hidden]) b")?.textContent === "1 event";
  await page.waitForFunction(isOne, null, { timeout: 10_000 });
  await page.mouse.down();
  await page.mouse.up();
  return saidOf(page);
}

export async function measureOverlap(browser, server, figures) {
  const found = await listed(server);
  const context = await openContext(browser);
  let missed = 0;
  try {
    const page = await context.newPage();
    const first = page.waitForResponse((response) => response.url().includes("/tiles?"));
    await page.goto(server.at(`/s/${OVERLAP}/timeline`));
    const drawnCount = counted(await (await first).json());
    await drawn(page);
    figures.addOne("of 10,000 kernels at once, not listed", KERNELS - found.size, "kernels", 0);
    figures.addOne("of 10,000 kernels at once, not drawn", KERNELS - drawnCount, "kernels", 0);
    for (let i = 0; i < SELECTED; ++i) {
      const kernel = REST_ROW + Math.floor(Math.random() * (KERNELS - REST_ROW));
      const said = await select(page, kernel).catch((error) => ({ error: String(error) }));
      if (said.start === String(startOf(kernel)) && said.duration === String(LENGTH_NS)) continue;
      ++missed;
      console.error("not selected:", kernel, JSON.stringify(said));
      if (missed === MOST_SHOWN) break;
    }
  } finally {
    await context.close();
  }
  figures.addOne(`of ${SELECTED} beyond row 128, not selected`, missed, "kernels", 0);
}
