// SPDX-License-Identifier: Apache-2.0
// From opening the address to all tracks in view being drawn, with nothing cached in the browser.
import { rmSync } from "node:fs";
import { blankTracks, drawn, openContext } from "./page.mjs";

const ROUNDS = 20;
const ROUNDS_WITHOUT_INDEX = 5;

async function paintOnce(browser, server, session) {
  const context = await openContext(browser);
  try {
    const page = await context.newPage();
    await page.goto(server.at(`/s/${session}/timeline`));
    const ms = await drawn(page);
    const blank = await blankTracks(page);
    return { ms, blank };
  } finally {
    await context.close();
  }
}

export async function measurePaint(browser, server, session, figures) {
  await paintOnce(browser, server, session); // the browser's own first start
  const times = [];
  for (let i = 0; i < ROUNDS; ++i) {
    const { ms, blank } = await paintOnce(browser, server, session);
    if (blank.length > 0) throw new Error(`nothing is drawn of ${blank.join(", ")}`);
    times.push(ms);
  }
  figures.add("first useful paint, empty cache", times, "ms", 800);
}

// `start`: a server over a cache folder. The first picture shows what has been read so far.
export async function measureWithoutIndex(browser, start, cache, session, figures) {
  const times = [];
  for (let i = 0; i < ROUNDS_WITHOUT_INDEX; ++i) {
    rmSync(cache, { recursive: true, force: true });
    const server = await start(cache);
    try {
      times.push((await paintOnce(browser, server, session)).ms);
    } finally {
      await server.stop();
    }
  }
  figures.add("first picture without an index", times, "ms", 1000);
}
