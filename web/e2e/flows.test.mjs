// SPDX-License-Identifier: Apache-2.0
// What people do on the pages.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  examples,
  freshPage,
  recordings,
  seriousFindings,
  sessionAt,
  settled,
  sharedServer,
  shareInThisFile,
  TORCH,
  untilAddress,
  whyNoBrowser,
} from "./harness.mjs";

shareInThisFile();

test("the token becomes a cookie and leaves the address", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  await page.goto(server.at(`/s/${TORCH}/kernels`));
  await settled(page);
  assert.ok(!page.url().includes("token"), page.url());
  assert.ok(page.url().endsWith(`#/s/${TORCH}/kernels`), page.url());
  const stranger = await freshPage(t);
  await stranger.goto(`${server.origin}/#/sessions`);
  await stranger.getByText("open the address that gpufl").first().waitFor();
});

test("from the overview to the line that makes the GPU wait", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const id = await sessionAt(server, "h200_sync_in_loop");
  await page.goto(server.at(`/s/${id}`));
  await settled(page);
  await page
    .getByRole("link", { name: "The host waits for the GPU in a loop at fixture_program.cu:129" })
    .click();
  await settled(page);
  const line = page.locator(".sync-source .on");
  assert.match(await line.textContent(), /129\s*REQUIRE_CUDA\(cudaDeviceSynchronize\(\)\);/);
  const launched = page.getByRole("table").filter({ hasText: "launched since the wait before" });
  // 30 waits, each after two launches of both.
  await launched.getByRole("row", { name: /^add 60 2 / }).waitFor();
  await launched.getByRole("row", { name: /^scale 60 2 / }).waitFor();
  await page.getByRole("img", { name: /4 launches, then a wait of 3\.876/ }).waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  await page.getByRole("button", { name: "The longest" }).click();
  await page.getByRole("img", { name: /then a wait of 10\.39/ }).waitFor();
  await launched.getByRole("link", { name: "add" }).click();
  await page.waitForFunction(() => location.hash.includes("/kernels/"));
  await settled(page);
  await page.goBack();
  await settled(page);
  // The address holds the open line; the chip closes it.
  await line.waitFor();
  await page.getByRole("button", { name: /^fixture_program.cu:129/ }).click();
  await line.waitFor({ state: "detached" });
  assert.deepEqual(page.errors, []);
});

test("an insight leads to the launch that shows it", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const id = await sessionAt(server, "h200_low_occupancy");
  const insights = await server.ask(`/sessions/${id}/sections/insights`);
  const { evidence } = insights.find(({ rule }) => rule === "low_occupancy");
  const [{ start_ns, end_ns, kernel }] = evidence;
  await page.goto(server.at(`/s/${id}`));
  await settled(page);
  await page
    .getByRole("article")
    .filter({ hasText: "Too few warps fit on a multiprocessor" })
    .first()
    .getByRole("link", { name: "See it on the timeline" })
    .click();
  const card = page.getByLabel("Selected event");
  await card.waitFor();
  const view = await untilAddress(page, (one) => one.has("event") && !one.has("span"));
  assert.match(view.get("event"), /^kernels:/);
  assert.deepEqual(view.get("sel")?.split(",").map(Number), [start_ns, end_ns]);
  assert.ok(Number(view.get("from")) <= start_ns && Number(view.get("to")) >= end_ns);
  const found = await server.ask(`/sessions/${id}/events/${view.get("event").split("/")[1]}`);
  assert.deepEqual([found.start_ns, found.duration_ns], [start_ns, end_ns - start_ns]);
  const { event } = found.around;
  assert.equal(event.name ?? event.label, kernel);
  assert.deepEqual(page.errors, []);
});

// Tab, until what has the focus is called so.
async function tabTo(page, name) {
  for (let i = 0; i < 80; ++i) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const { activeElement: at } = document;
      return at?.getAttribute("aria-label") ?? at?.textContent ?? "";
    });
    if (focused.startsWith(name)) return;
  }
  assert.fail(`Tab does not reach ${name}`);
}

test("by keyboard alone, with reduced motion", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t, { reducedMotion: "reduce" });
  const id = await sessionAt(server, "h200_sync_in_loop");
  await page.goto(server.at(`/s/${id}`));
  await settled(page);
  await tabTo(page, "The host waits for the GPU in a loop");
  await page.keyboard.press("Enter");
  await page.locator(".sync-source .on").waitFor();
  await tabTo(page, "fixture_program.cu:129");
  await page.keyboard.press("Enter");
  await page.locator(".sync-source").waitFor({ state: "detached" });

  await page.keyboard.press("g");
  await page.keyboard.press("k");
  const rows = page.locator(".table-row > :first-child");
  await rows.first().waitFor();
  const before = await rows.allTextContents();
  await tabTo(page, "Name");
  await tabTo(page, "Name"); // the grouping comes first, then the column
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector('[aria-sort="ascending"]'));
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.querySelector('[aria-sort="ascending"]'));
  assert.deepEqual(await rows.allTextContents(), [...before].sort().reverse());

  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.locator("canvas").first().waitFor();
  await settled(page);
  await tabTo(page, "Timeline");
  await page.keyboard.press(".");
  await page.getByLabel("Selected event").waitFor();
  await page.keyboard.press("f");
  await page.waitForFunction(() => /from=.*event=/.test(location.hash));
  await page.keyboard.press("Escape");
  await page.getByLabel("Selected event").waitFor({ state: "detached" });
  assert.deepEqual(page.errors, []);
});

test("a waiting line without text says how to keep it", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const id = await sessionAt(server, "h200_in_loop_sync");
  await page.goto(server.at(`/s/${id}`));
  await settled(page);
  await page.getByRole("link", { name: "See the line that waits" }).first().click();
  await settled(page);
  await page.getByText("No source text of these files was kept").waitFor();
  await page.getByText(/^gpufl symbolize \S*h200_in_loop_sync$/).waitFor();
  await page.getByRole("row", { name: /^work 240 4 / }).waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  // A line that launches and does not wait.
  await page.goto(server.at(`/s/${id}/sync?line=${encodeURIComponent("/a/mistakes.cu:128")}`));
  await page.getByRole("link", { name: "kernels by line" }).click();
  await settled(page);
  assert.match(page.url(), /kernels\?by=line&q=mistakes\.cu%3A128/);
  assert.deepEqual(page.errors, []);
});

test("a link shows the same view", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  await page.goto(server.at(`/s/${TORCH}/timeline?from=60000000&to=90000000`));
  await settled(page);
  await page.locator("canvas").first().focus();
  await page.keyboard.press("w");
  await page.waitForFunction(() => !location.hash.includes("from=60000000&to=90000000"));
  const address = page.url();
  const other = await freshPage(t);
  await other.goto(server.address);
  await other.goto(address);
  await settled(other);
  assert.equal(other.url(), address);
});

test("an event leads to its line, its kernel and its moment", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  await page.goto(server.address);
  const select = async (folder, kind) => {
    const id = await sessionAt(server, folder);
    const { tracks } = await server.ask(`/sessions/${id}/tracks`);
    const track = tracks.find((one) => one.kind === kind).id;
    const { events } = await server.ask(`/sessions/${id}/events?tracks=${track}&limit=5`);
    const { event, start_ns } = events.at(-1);
    await page.goto(`${server.origin}/#/s/${id}/timeline?event=${track}/${event}`);
    await page.getByLabel("Selected event").waitFor();
    return { id, start_ns };
  };
  await select("h200_sync_in_loop", "waits");
  await page.getByRole("link", { name: "The line" }).click();
  await page.locator(".sync-source .on").waitFor();
  const { id, start_ns } = await select("h200_power_cap", "kernels");
  await page.getByRole("link", { name: "Health then" }).click();
  await page.waitForFunction((at) => location.hash.endsWith(`health?at=${at}`), start_ns);
  await settled(page);
  await page.getByRole("link", { name: "See it on the timeline" }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "All launches" }).click();
  await page.waitForFunction((of) => location.hash.startsWith(`#/s/${of}/kernels/`), id);
  await settled(page);
  assert.deepEqual(page.errors, []);
});

test("the palette opens pages and kernels", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  await page.goto(server.at(`/s/${TORCH}`));
  await settled(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("iterations");
  await page.getByRole("option", { name: "Iterations" }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.endsWith("/iterations"));
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await page.waitForFunction(() => location.hash.endsWith("/kernels"));
  assert.deepEqual(page.errors, []);
});

test("a kernel's callers, and a what-if of its occupancy", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  const { by_name } = await server.ask(`/sessions/${TORCH}/kernels?limit=100`);
  const { full_name } = by_name.find(({ label }) => label === "reduce_kernel<sum_functor>");
  const kernel = encodeURIComponent(full_name);
  const address = `/s/${TORCH}/kernels/${kernel}`;
  const { callers } = await server.ask(`/sessions/${TORCH}/code?kernel=${kernel}`);
  await page.goto(server.at(address));

  const shown = page.locator(".callers > li");
  await shown.first().waitFor();
  const firsts = () => page.locator(".caller > :first-child").allTextContents();
  assert.deepEqual(
    await firsts(),
    callers.by_line.groups.map(({ label }) => label),
  );
  const choose = (name) => page.getByRole("button", { name, exact: true }).click();
  await choose("Operator");
  assert.deepEqual(await firsts(), ["aten::sum"]);
  assert.match(page.url(), /callers=operator/);
  await choose("Stack");
  await page.locator(".callers summary").first().click();
  assert.equal(
    await page.locator(".callers ol").first().locator("li").count(),
    callers.by_stack.groups[0].frames.length,
  );
  await choose("Module");
  assert.equal(await shown.count(), 8);
  await choose(`Show ${callers.by_module.groups.length - 8} more`);
  assert.equal(await shown.count(), callers.by_module.groups.length);

  // 54 registers per thread leave room for 9 blocks of 16; the step is the one that gives a tenth.
  const result = page.locator(".occupancy-result");
  assert.match(await result.textContent(), /^56\.3% 9 blocks per multiprocessor/);
  await choose("At most 48 registers per thread: 62.5%");
  assert.match(await result.textContent(), /^62\.5% 10 blocks per multiprocessor/);
  await page.getByRole("slider", { name: "Registers" }).fill("255");
  assert.match(await result.textContent(), /^12\.5% 2 blocks/);
  assert.deepEqual(page.errors, []);
});
