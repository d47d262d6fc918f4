// SPDX-License-Identifier: Apache-2.0
// Memory of a page that follows a session while it is recorded.
import { spawn } from "node:child_process";
import { openContext } from "./page.mjs";

const MOST_MB = 150;
const SETTLED_MINUTE = 2;
const MOST_GROWTH = 1.1;

const pause = (ms) => new Promise((later) => setTimeout(later, ms));

async function heapMb(devtools) {
  await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize, backingStorageSize = 0 } = await devtools.send("Runtime.getHeapUsage");
  return (usedSize + backingStorageSize) / 1e6;
}

export function record(gpufl, folder) {
  const recorder = spawn(
    gpufl,
    ["monitor", "--backend", "synthetic", "--interval", "20ms", "--output", folder],
    { stdio: "ignore" },
  );
  const ended = new Promise((done) => recorder.on("exit", done));
  return {
    stop: async () => {
      recorder.kill("SIGINT");
      await ended;
    },
  };
}

export async function measureLive(browser, server, session, minutes, figures) {
  const context = await openContext(browser);
  const heaps = [];
  try {
    const page = await context.newPage();
    await page.goto(server.at(`/s/${session}/timeline`));
    await page.getByRole("button", { name: "Follow" }).click();
    const devtools = await context.newCDPSession(page);
    await devtools.send("HeapProfiler.enable");
    for (let minute = 1; minute <= minutes; ++minute) {
      await pause(60_000);
      heaps.push(await heapMb(devtools));
    }
  } finally {
    await context.close();
  }
  const last = heaps.at(-1);
  figures.addOne(`heap after ${minutes} min of a live session`, last, "MB", MOST_MB);
  if (minutes > SETTLED_MINUTE) {
    const growth = last / heaps[SETTLED_MINUTE - 1];
    figures.addOne(`heap, minute ${minutes} / minute ${SETTLED_MINUTE}`, growth, "", MOST_GROWTH);
  }
}
