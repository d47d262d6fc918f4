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
const kernels = await servers[1].ask(`/sessions/${stalls}/kernels`);
const slowest = encodeURIComponent(kernels.by_name[0].full_name);
const overview = { server: servers[0], view: `/s/${torch}` };
const timeline = { server: servers[0], view: `/s/${torch}/timeline?from=82000000&to=122000000` };
const source = { server: servers[1], view: `/s/${stalls}/kernels/${slowest}` };
const PICTURES = [
  { name: "overview", of: overview, colorScheme: "light", width: 1440 },
  { name: "overview", of: overview, colorScheme: "dark", width: 1440 },
  { name: "overview", of: overview, colorScheme: "light", width: 800 },
  { name: "timeline", of: timeline, colorScheme: "dark", width: 1440 },
  { name: "timeline", of: timeline, colorScheme: "dark", width: 800 },
  { name: "source", of: source, colorScheme: "light", width: 1440 },
];

try {
  for (const { name, of, colorScheme, width } of PICTURES) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    await page.goto(of.server.at(of.view));
    await settled(page);
    await page.waitForTimeout(1500);
    await page.screenshot({ path: join(out, `${name}-${colorScheme}-${width}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
  for (const server of servers) await server.stop();
  rmSync(cache, { recursive: true, force: true });
}
