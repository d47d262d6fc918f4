// SPDX-License-Identifier: Apache-2.0
// What people do with figures: from an outlier to its step, into a flame, along hot lines, two
// sessions side by side, tags, tables and traces that leave the page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  examples,
  freshPage,
  recordings,
  sessionAt,
  settled,
  sharedServer,
  shareInThisFile,
  TORCH,
  until,
  untilAddress,
  whyNoBrowser,
  whyNoCode,
} from "./harness.mjs";

shareInThisFile();

test(
  "a group leads to its kernels, and these to their own pages",
  { skip: whyNoBrowser },
  async (t) => {
    const server = await sharedServer(examples);
    const page = await freshPage(t);
    const { by_op } = await server.ask(`/sessions/${TORCH}/sections/kernels`);
    const operator = by_op.find((group) => !group.is_rest).label;
    await page.goto(server.at(`/s/${TORCH}/kernels?by=operator`));
    await settled(page);
    await page.getByRole("row", { name: new RegExp(`^${operator} `) }).click();
    await untilAddress(page, (one) => one.get("group") === operator);
    await settled(page);
    const named = encodeURIComponent(operator);
    const { by_name } = await server.ask(`/sessions/${TORCH}/group?by=op&group=${named}`);
    const rows = page.getByRole("grid", { name: "kernels" }).locator(".table-row");
    await until(async () => (await rows.count()) === by_name.length);
    const [first] = by_name;
    assert.match(await rows.first().innerText(), new RegExp(`\\b${first.duration_ns.count}\\b`));
    await rows.first().click();
    await page.waitForFunction(() => location.hash.includes("/kernels/"));
    await settled(page);
    // Where it is launched from leads back to the group.
    await page.getByRole("button", { name: "Operator", exact: true }).click();
    await page.getByRole("link", { name: operator, exact: true }).click();
    await untilAddress(page, (one) => one.get("group") === operator);
    await page.getByRole("link", { name: "Operator", exact: true }).click();
    await untilAddress(page, (one) => one.get("by") === "operator" && !one.has("group"));
    assert.deepEqual(page.errors, []);
  },
);

test("each launch of a kernel leads to the timeline", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  const [{ full_name: kernel }] = (await server.ask(`/sessions/${TORCH}/kernels?limit=1`)).by_name;
  const named = encodeURIComponent(kernel);
  const { duration_ns, event } = await server.ask(`/sessions/${TORCH}/launches?kernel=${named}`);
  const longest = event[duration_ns.indexOf(Math.max(...duration_ns))];
  await page.goto(server.at(`/s/${TORCH}/kernels/${named}`));
  await settled(page);
  await page.getByRole("button", { name: "As a list" }).click();
  const list = page.getByRole("grid", { name: "launches" });
  // Longest first.
  await list.getByRole("button", { name: "Duration" }).click();
  await page.waitForFunction(() => location.hash.includes("sort="));
  await list.locator(".table-row").first().click();
  await page.waitForFunction(() => location.hash.includes("/timeline"));
  await page.getByLabel("Selected event").waitFor();
  const view = await untilAddress(page, (one) => one.get("event")?.endsWith(`/${longest}`));
  assert.ok(Number(view.get("to")) - Number(view.get("from")) < 1e9);
  assert.deepEqual(page.errors, []);
});

test("an outlier leads to its step on the timeline", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const id = await sessionAt(server, "h200_in_loop_sync");
  const { list } = await server.ask(`/sessions/${id}/sections/iterations`);
  const lengthOf = ({ start_ns, end_ns }) => end_ns - start_ns;
  const slowest = list.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a));
  await page.goto(server.at(`/s/${id}/iterations`));
  await settled(page);
  const name = `Step ${list.indexOf(slowest) + 1}`;
  await page.locator(".steps-outliers").getByRole("link", { name, exact: true }).click();
  await page.waitForFunction(() => location.hash.includes("/timeline"));
  const view = await untilAddress(page, (one) => one.has("from"));
  assert.deepEqual(
    ["from", "to"].map((name) => Number(view.get(name))),
    [slowest.start_ns, slowest.end_ns],
  );
  await settled(page);
  assert.deepEqual(page.errors, []);
});

test("a frame of a flame graph fills it", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  await page.goto(server.at(`/s/${TORCH}/scopes`));
  await settled(page);
  const frames = page.locator(".flame-frame");
  await frames.first().waitFor();
  const share = (index) =>
    frames.nth(index).evaluate((one) => one.clientWidth / one.parentElement.clientWidth);
  const all = await frames.count();
  const names = await frames.evaluateAll((list) =>
    list.map((one) => one.getAttribute("aria-label")),
  );
  let narrow = 1;
  while (narrow < all && (await share(narrow)) > 0.9) ++narrow;
  assert.ok(narrow < all, "every frame is as wide as the graph");
  await frames.nth(narrow).click();
  await untilAddress(page, (one) => one.has("zoom"));
  const zoomed = page.locator(".flame-frame").filter({ visible: true });
  const wide = async () =>
    zoomed.evaluateAll(
      (list, name) =>
        list.some(
          (one) =>
            one.getAttribute("aria-label") === name &&
            one.clientWidth > 0.98 * one.parentElement.clientWidth,
        ),
      names[narrow],
    );
  await until(wide);
  await page.getByRole("button", { name: "Zoom out" }).click();
  await untilAddress(page, (one) => !one.has("zoom"));
  assert.equal(await frames.count(), all);
  assert.deepEqual(page.errors, []);
});

test("brackets go along the hot lines of a kernel", { skip: whyNoCode }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const id = await sessionAt(server, "h200_stalls");
  const { by_name } = await server.ask(`/sessions/${id}/kernels?limit=1`);
  await page.goto(server.at(`/s/${id}/kernels/${encodeURIComponent(by_name[0].full_name)}`));
  await settled(page);
  const chosen = page.locator(".code-row.on");
  const linked = page.locator(".code-row.linked");
  // It opens at the hottest.
  await page.getByText("hottest", { exact: true }).waitFor();
  const hottest = await chosen.innerText();
  assert.ok((await linked.count()) > 0, "no instruction belongs to the hottest line");
  await page.keyboard.press("]");
  await page.getByText("hot no. 2").waitFor();
  assert.notEqual(await chosen.innerText(), hottest);
  await page.keyboard.press("[");
  await page.getByText("hottest", { exact: true }).waitFor();
  assert.equal(await chosen.innerText(), hottest);
  assert.deepEqual(page.errors, []);
});

test("two sessions that differ", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const a = await sessionAt(server, "h200_sync_in_loop");
  const b = await sessionAt(server, "h200_in_loop_sync");
  await page.goto(server.at(`/compare?a=${a}`));
  await settled(page);
  await page.getByRole("button", { name: "Choose a session" }).click();
  await page.getByLabel("Search sessions").fill("in_loop_sync");
  await page.locator(".pick-row", { hasText: "in_loop_sync" }).first().click();
  await untilAddress(page, (one) => one.get("b") === b);
  await settled(page);
  await page.getByRole("region", { name: "Verdict" }).waitFor();
  // A kernel that only one of them has, and a timeline for each.
  await page
    .getByText(/^work grid 1x1x1/)
    .first()
    .waitFor();
  await page
    .getByText(/^scale grid 256x1x1/)
    .first()
    .waitFor();
  await until(async () => (await page.locator(".tl canvas").count()) === 2);
  assert.equal(await page.getByRole("alert").count(), 0);
  assert.deepEqual(page.errors, []);
});

test("two timelines show the same step", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  const { sessions } = await server.ask("/sessions?limit=10");
  const other = sessions.find(({ id }) => id !== TORCH).id;
  const [ofA, ofB] = await Promise.all(
    [TORCH, other].map((id) => server.ask(`/sessions/${id}/sections/iterations`)),
  );
  const steps = [ofA.list[1], ofB.list[1]];
  const longest = Math.max(...steps.map(({ start_ns, end_ns }) => end_ns - start_ns));
  // What each asks for, at last.
  const asked = new Map();
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (!url.pathname.endsWith("/tiles")) return;
    const id = decodeURIComponent(url.pathname.split("/").at(-2));
    asked.set(
      id,
      ["from", "to"].map((name) => Number(url.searchParams.get(name))),
    );
  });
  const isShown = (id, from, to) => {
    const view = asked.get(id);
    return (
      view !== undefined && view[0] <= from && view[1] >= to && view[1] - view[0] < 8 * (to - from)
    );
  };
  await page.goto(server.at(`/compare?a=${TORCH}&b=${other}&step=2`));
  await settled(page);
  const view = await untilAddress(page, (one) => one.has("from"));
  const [from, to] = ["from", "to"].map((name) => Number(view.get(name)));
  assert.ok(Math.abs(from - (steps[0].start_ns - 0.1 * longest)) <= 2, String(from));
  assert.ok(Math.abs(to - (steps[0].start_ns + 1.1 * longest)) <= 2, String(to));
  const by = steps[1].start_ns - steps[0].start_ns;
  await until(
    () => isShown(TORCH, from, to) && isShown(other, from + by, to + by),
    () => JSON.stringify([...asked]),
  );
  // A link to a part of it shows that part in both.
  const [linkFrom, linkTo] = [from + 5e6, from + 15e6];
  asked.clear();
  await page.goto("about:blank");
  const part = `from=${linkFrom}&to=${linkTo}`;
  await page.goto(server.at(`/compare?a=${TORCH}&b=${other}&step=2&${part}`));
  await settled(page);
  await until(
    () => isShown(TORCH, linkFrom, linkTo) && isShown(other, linkFrom + by, linkTo + by),
    () => JSON.stringify([...asked]),
  );
  // Written after a quarter of a second; moving one of them by hand writes it for sure.
  // What is typed while a timeline is still being laid out may be lost: typed again, then.
  const second = page.locator(".aligned-timeline canvas").nth(1);
  let typed = 0;
  const moved = await untilAddress(page, async (one) => {
    if (Number(one.get("from")) > linkFrom + 1e5) return true;
    if (Date.now() - typed > 2000) {
      typed = Date.now();
      await second.press("d");
    }
    return false;
  });
  const length = Number(moved.get("to")) - Number(moved.get("from"));
  assert.ok(Math.abs(length - 10e6) <= 2, String(length));
  assert.deepEqual(page.errors, []);
});

test("a tag is given and filtered by", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  await page.goto(server.at("/sessions?q=power_cap"));
  await settled(page);
  await page.locator(".session-tag").first().click();
  await page.getByRole("textbox", { name: "Tags" }).fill("hot, before the fan");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Clear" }).first().click();
  await page.getByLabel("Filter by tag").selectOption("before the fan");
  await untilAddress(page, (one) => one.get("tag") === "before the fan");
  const { sessions } = await server.ask("/sessions?tag=before%20the%20fan");
  assert.deepEqual(
    sessions.map(({ path, tags }) => [path, tags]),
    [["h200_power_cap", ["hot", "before the fan"]]],
  );
  await page.getByText("h200_monitor").waitFor({ state: "detached" });
  await page.getByText("power_cap").filter({ visible: true }).first().waitFor();
  assert.deepEqual(page.errors, []);
});

test("a table is saved as it is shown", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  await page.goto(server.at(`/s/${TORCH}/kernels`));
  await settled(page);
  const saved = async (kind) => {
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: kind, exact: true }).first().click();
    const file = await download;
    assert.equal(file.suggestedFilename(), `kernels-${TORCH}.${kind.toLowerCase()}`);
    return readFileSync(await file.path(), "utf8");
  };
  const { by_name } = await server.ask(`/sessions/${TORCH}/kernels?limit=10000`);
  const csv = await saved("CSV");
  // Names have no newlines.
  assert.equal(csv.trimEnd().split("\n").length, by_name.length + 1);
  assert.equal(JSON.parse(await saved("JSON")).length, by_name.length);
  assert.deepEqual(page.errors, []);
});

// What Perfetto's page does: it answers, and takes the trace.
const PERFETTO_PAGE = `<script>
  addEventListener("message", ({ data, source, origin }) => {
    if (data === "PING") source.postMessage("PONG", origin);
    else if (data.perfetto) document.title = "took " + data.perfetto.buffer.byteLength;
  });
</script>`;

test("Perfetto gets a trace when somebody says so", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  const asked = [];
  await page.context().route(/^https:/, (route) => {
    asked.push(route.request().url());
    return route.fulfill({ contentType: "text/html", body: PERFETTO_PAGE });
  });
  await page.goto(server.at(`/s/${TORCH}/log`));
  await settled(page);
  await page
    .getByRole("button", { name: /Perfetto/ })
    .first()
    .click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Open ui.perfetto.dev" }).waitFor();
  await dialog.getByLabel("Perfetto's address").fill("https://traces.example.org/perfetto/");
  assert.deepEqual(asked, []);
  const opened = page.waitForEvent("popup");
  await dialog.getByRole("button", { name: "Open traces.example.org" }).click();
  const other = await opened;
  await dialog.getByText("Handed over").waitFor();
  await other.waitForFunction(() => document.title.startsWith("took "));
  const size = Number((await other.title()).split(" ")[1]);
  assert.ok(size > 100_000, String(size));
  assert.deepEqual([...new Set(asked)], ["https://traces.example.org/perfetto/"]);
  assert.deepEqual(page.errors, []);
});
