// SPDX-License-Identifier: Apache-2.0
// The pictures of docs/guide/dashboard, of recorded sessions: node scripts/screenshots.mjs, after a
// build of build/release. GPUFL_NVDISASM shows the SASS of a kernel.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { CHROMIUM, FLAGS, recordings, root, Server, settled } from "../e2e/harness.mjs";

const out = join(root, "docs/guide/dashboard");
const cache = mkdtempSync(join(tmpdir(), "gpufl-pictures-"));
mkdirSync(out, { recursive: true });

const servers = [await Server.start(join(root, "examples/sessions"), cache)];
servers.push(await Server.start(recordings, cache));
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });

async function sessionOf(server, path) {
  const { sessions } = await server.ask("/sessions?limit=500");
  return sessions.find((session) => session.path === path).id;
}

const torch = await sessionOf(servers[0], "h200_torch");
const stalls = await sessionOf(servers[1], "h200_stalls");
const waits = await sessionOf(servers[1], "h200_sync_in_loop");
const kernels = await servers[1].ask(`/sessions/${stalls}/kernels`);
const slowest = encodeURIComponent(kernels.by_name[0].full_name);
const step = `/s/${torch}/timeline?from=82000000&to=122000000`;
const { events } = await servers[0].ask(
  `/sessions/${torch}/events?from=104240000&to=104270000&tracks=kernels:0:1:7`,
);
const { event } = events.at(-1);
const PAGES = [
  { name: "overview", server: servers[0], view: `/s/${torch}` },
  { name: "timeline", server: servers[0], view: step },
  {
    name: "event",
    server: servers[0],
    view: `/s/${torch}/timeline?from=104000000&to=104600000&event=${event}`,
  },
  { name: "waits", server: servers[1], view: `/s/${waits}/sync` },
  { name: "source", server: servers[1], view: `/s/${stalls}/kernels/${slowest}` },
];
const LOOKS = [
  { colorScheme: "light", width: 1440 },
  { colorScheme: "dark", width: 1440 },
  { colorScheme: "light", width: 800 },
  { colorScheme: "dark", width: 800 },
];

try {
  for (const { colorScheme, width } of LOOKS) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    for (const { name, server, view } of PAGES) {
      const page = await context.newPage();
      await page.goto(server.at(view));
      await settled(page);
      await page.waitForTimeout(1500);
      await page.screenshot({ path: join(out, `${name}-${colorScheme}-${width}.png`) });
      await page.close();
    }
    await context.close();
  }
} finally {
  await browser.close();
  for (const server of servers) await server.stop();
  rmSync(cache, { recursive: true, force: true });
}
