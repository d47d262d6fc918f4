// SPDX-License-Identifier: Apache-2.0
// Memory of a page that follows a session while kernels are recorded.
import { openContext } from "./page.mjs";

const MOST_MB = 150;
const SETTLED_MINUTE = 2;
const MOST_GROWTH = 1.1;

// What the session grows by: about five thousand kernels a second, a window every ten seconds.
const KERNELS = 500;
const PAUSE_MS = 100;
const TURNS_OF_A_WINDOW = 100;

const pause = (ms) => new Promise((later) => setTimeout(later, ms));

async function heapMb(devtools) {
  await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize, backingStorageSize = 0 } = await devtools.send("Runtime.getHeapUsage");
  return (usedSize + backingStorageSize) / 1e6;
}

// Kernels until it is stopped, which ends the session.
export function grow(recorder) {
  let isOver = false;
  const running = (async () => {
    for (let turn = 1; !isOver; ++turn) {
      await recorder.tell(`kernels ${KERNELS}`);
      if (turn % TURNS_OF_A_WINDOW === 0) await recorder.tell("seal");
      await pause(PAUSE_MS);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await running;
      await recorder.end();
    },
  };
}

async function kernelsOf(server, session) {
  const { tracks } = await server.ask(`/sessions/${session}/tracks`);
  return tracks
    .filter(({ kind }) => kind === "kernels")
    .reduce((sum, { events }) => sum + events, 0);
}

export async function measureLive(browser, server, session, minutes, figures) {
  const context = await openContext(browser);
  const heaps = [];
  let kernels = await kernelsOf(server, session);
  try {
    const page = await context.newPage();
    let tiles = 0;
    page.on("response", (answer) => {
      if (answer.ok() && answer.url().includes("/tiles?")) ++tiles;
    });
    await page.goto(server.at(`/s/${session}/timeline`));
    await page.getByRole("button", { name: "Follow" }).click();
    const devtools = await context.newCDPSession(page);
    await devtools.send("HeapProfiler.enable");
    for (let minute = 1; minute <= minutes; ++minute) {
      const [tilesBefore, kernelsBefore] = [tiles, kernels];
      await pause(60_000);
      heaps.push(await heapMb(devtools));
      kernels = await kernelsOf(server, session);
      // A session that stands still, or a page that looks at nothing, measures nothing.
      if (kernels === kernelsBefore || tiles === tilesBefore) {
        throw new Error(`minute ${minute}: ${kernels} kernels, ${tiles} tiles, as before`);
      }
    }
  } finally {
    await context.close();
  }
  const last = heaps.at(-1);
  figures.addOne(`kernels that a page followed in ${minutes} min`, kernels, "");
  figures.addOne(`heap after ${minutes} min of a live session`, last, "MB", MOST_MB);
  if (minutes > SETTLED_MINUTE) {
    const growth = last / heaps[SETTLED_MINUTE - 1];
    figures.addOne(`heap, minute ${minutes} / minute ${SETTLED_MINUTE}`, growth, "", MOST_GROWTH);
  }
}
