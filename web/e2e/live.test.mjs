// SPDX-License-Identifier: Apache-2.0
// Sessions that grow, many tabs, a server that goes and comes back, a slow network.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  examples,
  gpufl,
  launch,
  openPage,
  scratchFolder,
  serve,
  Server,
  settled,
  TORCH,
  watch,
  whyNoBrowser,
} from "./harness.mjs";

async function recordLive(t) {
  const logs = join(scratchFolder(), "logs");
  const recorder = spawn(
    gpufl,
    ["monitor", "--output", logs, "--interval", "20ms", "--backend", "synthetic"],
    { stdio: "ignore" },
  );
  const ended = new Promise((done) => recorder.on("exit", done));
  t.after(async () => {
    recorder.kill("SIGKILL");
    await ended;
  });
  while (!existsSync(logs)) await new Promise((later) => setTimeout(later, 50));
  return logs;
}

test(
  "a session that is recorded appears by itself and grows",
  { skip: whyNoBrowser },
  async (t) => {
    const server = await serve(t, await recordLive(t));
    const page = await openPage(await launch(t));
    await page.goto(server.address);
    await page.getByText("Live").first().waitFor();
    const { sessions } = await server.ask("/sessions");
    await page.goto(`${server.origin}/#/s/${sessions[0].id}/health`);
    await settled(page);
    const shown = () => page.locator("main").innerText();
    const before = await shown();
    await page.waitForFunction(
      (text) => document.querySelector("main")?.innerText !== text,
      before,
    );
    assert.deepEqual(page.errors, []);
  },
);

test("nine tabs share one stream of events", { skip: whyNoBrowser }, async (t) => {
  const server = await serve(t, examples);
  const browser = await launch(t);
  const first = await openPage(browser);
  await first.goto(server.address);
  await settled(first);
  const tabs = [first];
  for (let i = 0; i < 8; ++i) {
    const tab = await first.context().newPage();
    tab.errors = watch(tab);
    await tab.goto(`${server.origin}/#/s/${TORCH}/kernels`);
    tabs.push(tab);
  }
  for (const tab of tabs) await settled(tab);
  const metrics = await fetch(`${server.origin}/metrics`, {
    headers: { Authorization: `Bearer ${server.token}` },
  });
  assert.match(await metrics.text(), /^gpufl_server_event_streams 1$/m);
  // The tab that reads it goes: another takes over.
  await first.close();
  await tabs[1].waitForFunction(async () => (await navigator.locks.query()).held.length === 1);
  for (const tab of tabs.slice(1)) assert.deepEqual(tab.errors, []);
});

test("a server that comes back is found again", { skip: whyNoBrowser }, async (t) => {
  const cache = join(scratchFolder(), "cache");
  const server = await Server.start(examples, cache);
  t.after(() => server.stop());
  const page = await openPage(await launch(t));
  await page.goto(server.at("/sessions"));
  await settled(page);
  await server.stop();
  await page.goto(`${server.origin}/#/s/${TORCH}/kernels`).catch(() => undefined);
  const { port } = new URL(server.origin);
  const again = await Server.start(examples, cache, `127.0.0.1:${port}`);
  t.after(() => again.stop());
  await page.goto(again.at(`/s/${TORCH}/kernels`));
  await settled(page);
  await page.getByRole("table").first().waitFor();
});

test("a slow network shows skeletons and then the page", { skip: whyNoBrowser }, async (t) => {
  const server = await serve(t, examples);
  const page = await openPage(await launch(t));
  await page.route("**/api/v1/**", async (route) => {
    await new Promise((later) => setTimeout(later, 700));
    await route.continue().catch(() => undefined);
  });
  await page.goto(server.at(`/s/${TORCH}/kernels`));
  await page.locator("[aria-busy=true]").first().waitFor();
  await settled(page);
  await page.getByRole("table").first().waitFor();
  assert.deepEqual(page.errors, []);
});
