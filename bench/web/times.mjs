// SPDX-License-Identifier: Apache-2.0
// What the page says of events, found where they are drawn, against the log: begin and duration to
// the nanosecond.
import { spawn } from "node:child_process";
import { drawn, openContext, showView } from "./page.mjs";

const EVENTS = 1000;
const MOST_SHOWN = 10;
const RULER_PX = 26;
// From the top of the tracks to the middle of the first pinned row.
const ROW_MIDDLE_PX = { kernels: 20, kernel_calls: 7 };

// Lines of the log's kernels, `count` of them at random places.
async function pickKernels(gpufl, folder, rows, count) {
  const wanted = new Set();
  while (wanted.size < Math.min(count, rows)) wanted.add(Math.floor(Math.random() * rows));
  const child = spawn(gpufl, ["cat", folder, "kernel"], { stdio: ["ignore", "pipe", "inherit"] });
  const picked = [];
  let number = 0;
  let rest = Buffer.alloc(0);
  for await (const part of child.stdout) {
    const text = rest.length === 0 ? part : Buffer.concat([rest, part]);
    let begin = 0;
    for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, begin)) {
      if (wanted.has(number)) picked.push(JSON.parse(text.toString("utf8", begin, end)));
      ++number;
      begin = end + 1;
    }
    rest = text.subarray(begin);
  }
  if (number !== rows) throw new Error(`the log has ${number} kernels, not ${rows}`);
  return picked;
}

// A kernel, or the call behind it.
function eventOf(kernel, isCall) {
  return isCall
    ? {
        kind: "kernel_calls",
        lengthWord: "call took",
        track: `kernel_calls:${kernel.thread}`,
        start: kernel.api_start_ns,
        length: kernel.api_duration_ns,
      }
    : {
        kind: "kernels",
        lengthWord: "duration",
        track: `kernels:${kernel.device}:${kernel.context}:${kernel.stream}`,
        start: kernel.start_ns,
        length: kernel.duration_ns,
      };
}

// Opens the view around an event, points at where it has to be and takes what the page says.
async function askPage(page, session, event) {
  const { start, length, track } = event;
  const around = Math.max(Math.round(length * (1 + 8 * Math.random())), 100);
  const from = start - around;
  const to = start + length + around;
  const address = `/s/${session}/timeline?from=${from}&to=${to}&pinned=${track}`;
  const plot = await showView(page, address);
  const x = plot.left + ((start + length / 2 - from) / (to - from)) * plot.width;
  const y = plot.top + RULER_PX + ROW_MIDDLE_PX[event.kind];
  const isThere = () =>
    [...document.querySelectorAll(".tl-tip:not([hidden]) dt")].some(
      (term) => term.textContent === "start",
    );
  await page.mouse.move(x - 1, y);
  await page.mouse.move(x, y);
  await page.waitForFunction(isThere, null, { timeout: 10_000 });
  await page.mouse.down();
  await page.mouse.up();
  return saidOf(page);
}

export async function saidOf(page) {
  const said = await page.waitForFunction(
    () => {
      const copied = {};
      for (const fact of document.querySelectorAll(".tlp-card dl:not(.mono) > div")) {
        fact.querySelector(".copyable").click();
        copied[fact.querySelector("dt").textContent] = window.benchSeen.copied;
      }
      return copied.start === undefined ? null : copied;
    },
    null,
    { timeout: 10_000 },
  );
  return said.jsonValue();
}

export async function measureTimes(browser, server, gpufl, folder, session, rows, figures) {
  const kernels = await pickKernels(gpufl, folder, rows, EVENTS);
  const context = await openContext(browser);
  let wrong = 0;
  try {
    const page = await context.newPage();
    await page.goto(server.at(`/s/${session}/timeline`));
    await drawn(page);
    for (const [i, kernel] of kernels.entries()) {
      const event = eventOf(kernel, i % 2 === 1);
      const said = await askPage(page, session, event).catch((error) => ({ error: String(error) }));
      const length = said[event.lengthWord];
      if (said.start === String(event.start) && length === String(event.length)) continue;
      ++wrong;
      console.error("wrong:", JSON.stringify(event), JSON.stringify(said));
      if (wrong === MOST_SHOWN) break;
    }
  } finally {
    await context.close();
  }
  figures.addOne(`wrong times of ${kernels.length} events`, wrong, "events", 0);
}
