// SPDX-License-Identifier: Apache-2.0
// Sessions that grow, many tabs, a server that goes and comes back, a slow network.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  examples,
  freshPage,
  gpufl,
  hashOf,
  record,
  scratchFolder,
  serve,
  Server,
  settled,
  sharedServer,
  shareInThisFile,
  TORCH,
  until,
  untilAddress,
  watch,
  whyNoBrowser,
  whyNoWriters,
} from "./harness.mjs";

shareInThisFile();

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
    const page = await freshPage(t);
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
  const first = await freshPage(t);
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
  const page = await freshPage(t);
  await page.goto(server.at("/sessions"));
  await settled(page);
  await server.stop();
  await page.goto(`${server.origin}/#/s/${TORCH}/kernels`).catch(() => undefined);
  const { port } = new URL(server.origin);
  const again = await Server.start(examples, cache, `127.0.0.1:${port}`);
  t.after(() => again.stop());
  await page.goto(again.at(`/s/${TORCH}/kernels`));
  await settled(page);
  await page.getByRole("grid").first().waitFor();
});

test("a slow network shows skeletons and then the page", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  await page.route("**/api/v1/**", async (route) => {
    await new Promise((later) => setTimeout(later, 700));
    await route.continue().catch(() => undefined);
  });
  await page.goto(server.at(`/s/${TORCH}/kernels`));
  await page.locator("[aria-busy=true]").first().waitFor();
  await settled(page);
  await page.getByRole("grid").first().waitFor();
  assert.deepEqual(page.errors, []);
});

const endOf = (view) => Number(view.get("to"));

test("a timeline follows, and keeps what is selected", { skip: whyNoWriters }, async (t) => {
  const logs = scratchFolder();
  const recorder = await record(t, join(logs, "live"));
  const server = await serve(t, logs);
  const page = await freshPage(t);
  await page.goto(server.address);
  await page.getByText("Live").first().waitFor();
  const id = (await server.ask("/sessions")).sessions[0].id;
  await page.goto(`${server.origin}/#/s/${id}/timeline?from=900000&to=1000000`);
  await settled(page);
  await page.getByRole("button", { name: "Follow" }).click();
  // One kernel every microsecond.
  await recorder.tell("kernels 1000");
  let view = await untilAddress(page, (one) => endOf(one) >= 1_990_000);
  assert.ok(endOf(view) - Number(view.get("from")) < 150_000);
  await page.locator("canvas").first().focus();
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  const card = page.getByLabel("Selected event");
  await until(async () => {
    await page.keyboard.press(".");
    return card.isVisible();
  });
  const before = (await untilAddress(page, (one) => /@/.test(one.get("event") ?? ""))).get("event");
  await card.getByText("launch").first().waitFor();
  const facts = await card.locator("dl").first().innerText();
  // Ids change when a window is sealed. What was selected stays so, and its address leads to it.
  await recorder.tell("seal");
  await recorder.tell("kernels 1000");
  view = await untilAddress(page, (one) => one.has("event") && one.get("event") !== before);
  assert.equal(view.get("event").split("@")[1], before.split("@")[1]);
  assert.equal(await card.locator("dl").first().innerText(), facts);
  assert.equal(await card.getByRole("alert").count(), 0);
  const address = (await hashOf(page)).replace(
    /event=[^&]*/,
    `event=${encodeURIComponent(before)}`,
  );
  const other = await freshPage(t);
  await other.goto(server.address);
  await other.goto(`${server.origin}/${address}`);
  const again = other.getByLabel("Selected event");
  await again.getByText("launch").first().waitFor();
  assert.equal(await again.locator("dl").first().innerText(), facts);
  // Kernels are counted while they come, and the session is complete when it ends.
  await page.goto(`${server.origin}/#/s/${id}/kernels`);
  await page.getByText("3,000").first().waitFor();
  await recorder.tell("kernels 3000");
  await page.getByText("6,000").first().waitFor();
  await recorder.end();
  await page
    .getByText(/^Complete/)
    .first()
    .waitFor();
  assert.deepEqual(page.errors, []);
  // The id of before is asked for first.
  assert.deepEqual(
    other.errors.filter((error) => !error.includes("404")),
    [],
  );
});

test("an open page loses its server and recovers", { skip: whyNoBrowser }, async (t) => {
  const cache = join(scratchFolder(), "cache");
  const server = await Server.start(examples, cache);
  t.after(() => server.stop());
  const page = await freshPage(t);
  const { by_name } = await server.ask(`/sessions/${TORCH}/kernels?limit=3`);
  const at = (kernel) => `/s/${TORCH}/kernels/${encodeURIComponent(by_name[kernel].full_name)}`;
  await page.goto(server.at(at(0)));
  await settled(page);
  await server.stop();
  // The page finds out, whether it asks for anything or not.
  const banner = page.getByText("Pages show what they had before", { exact: false });
  await banner.waitFor();
  // What was not asked for before says what to do, and what is there stays.
  const alert = page.getByRole("alert");
  await page.evaluate((hash) => (location.hash = hash), at(1));
  await alert.filter({ hasText: "gpufl serve" }).first().waitFor();
  await page.evaluate((hash) => (location.hash = hash), at(0));
  await alert.first().waitFor({ state: "detached" });
  await settled(page);
  // A page whose script never came says so, too.
  await page.getByRole("link", { name: "Memory", exact: true }).click();
  await alert
    .filter({ hasText: /reload/i })
    .first()
    .waitFor();

  await page.evaluate((hash) => (location.hash = hash), at(1));
  await alert.filter({ hasText: "gpufl serve" }).first().waitFor();
  const { port } = new URL(server.origin);
  const again = await Server.start(examples, cache, `127.0.0.1:${port}`);
  t.after(() => again.stop());
  await banner.waitFor({ state: "detached" });
  // It has another token: pages say so until somebody opens its address in any tab.
  await alert.filter({ hasText: "the address that gpufl" }).first().waitFor();
  const other = await page.context().newPage();
  await other.goto(again.address);
  await settled(other);
  await alert.first().waitFor({ state: "detached" });
  await settled(page);
  assert.ok((await hashOf(page)).endsWith(at(1)));
  await page.locator(".callers").first().waitFor();
});

test("a timeline says what it could not read", { skip: whyNoBrowser }, async (t) => {
  const server = await Server.start(examples, join(scratchFolder(), "cache"));
  t.after(() => server.stop());
  const page = await freshPage(t);
  await page.goto(server.at(`/s/${TORCH}/timeline?from=100000000&to=100100000`));
  await settled(page);
  await server.stop();
  // Far beyond what was asked for.
  await page.keyboard.press("0");
  const alert = page.getByRole("alert").filter({ hasText: "Hatched: not read" });
  await alert.waitFor();
  assert.match(await alert.innerText(), /^The server does not answer, trying again\./);
});

test("tabs of a browser without locks ask by themselves", { skip: whyNoWriters }, async (t) => {
  const logs = scratchFolder();
  const server = await serve(t, logs);
  const first = await freshPage(t);
  await first.context().addInitScript(() => {
    Object.defineProperty(Navigator.prototype, "locks", { value: undefined });
  });
  await first.goto(server.address);
  await settled(first);
  const second = await first.context().newPage();
  second.errors = watch(second);
  await second.goto(`${server.origin}/#/sessions`);
  await settled(second);
  assert.equal(await second.evaluate(() => navigator.locks === undefined), true);
  await record(t, join(logs, "live"));
  for (const tab of [first, second]) {
    await tab.bringToFront();
    await tab.getByText("live_session").filter({ visible: true }).first().waitFor();
    assert.deepEqual(tab.errors, []);
  }
  const headers = { Authorization: `Bearer ${server.token}` };
  const metrics = await fetch(`${server.origin}/metrics`, { headers });
  assert.match(await metrics.text(), /^gpufl_server_event_streams 0$/m);
});

test("a part that fails, or never comes, leaves the rest", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  let isBroken = true;
  const body = JSON.stringify({ title: "The disk is on fire", status: 500, detail: "sector 7" });
  const broken = { status: 500, contentType: "application/problem+json", body };
  await page.route("**/sections/events", (route) =>
    isBroken ? route.fulfill(broken) : route.continue(),
  );
  let asked = 0;
  await page.route("**/windows", () => void ++asked); // no answer, ever
  await page.goto(server.at(`/s/${TORCH}/log`));
  const alert = page.getByRole("alert").filter({ hasText: "The disk is on fire" });
  await alert.waitFor();
  assert.match(await alert.innerText(), /sector 7/i);
  await page.locator(".skeleton").first().waitFor();
  // The rest is there, and so are the other pages.
  await page.getByText("Verdict").first().waitFor();
  await page.getByRole("link", { name: "Kernels", exact: true }).click();
  await page.getByRole("grid").first().waitFor();
  await page.getByRole("link", { name: "Log", exact: true }).click();
  await alert.waitFor();
  isBroken = false;
  await alert.getByRole("button", { name: "Retry" }).click();
  await alert.waitFor({ state: "detached" });
  await page.unrouteAll({ behavior: "ignoreErrors" });
  assert.ok(asked > 0);
});

test("a timeline whose tiles fail tries again", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  let asked = 0;
  await page.route("**/tiles?*", (route) =>
    ++asked <= 2 ? route.abort("connectionreset") : route.continue(),
  );
  await page.goto(server.at(`/s/${TORCH}/timeline`));
  const alert = page.getByRole("alert").filter({ hasText: "trying again" });
  await alert.waitFor();
  await alert.waitFor({ state: "detached" });
  await settled(page);
  assert.ok(asked > 2);
});
