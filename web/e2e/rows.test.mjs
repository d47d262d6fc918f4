// SPDX-License-Identifier: Apache-2.0
// Rows of tables behave as links do, and runs lead to what is said of all their ranks.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  examples,
  findingsInLooks,
  freshPage,
  hashOf,
  recordings,
  sessionAt,
  settled,
  sharedServer,
  shareInThisFile,
  TORCH,
  until,
  whyNoBrowser,
} from "./harness.mjs";

shareInThisFile();

async function opensBeside(page, act) {
  const [other] = await Promise.all([page.context().waitForEvent("page"), act()]);
  await other.waitForFunction(() => location.hash !== "");
  const hash = await hashOf(other);
  await other.close();
  return hash;
}

test(
  "rows open beside the page, and their text can be selected",
  {
    skip: whyNoBrowser,
  },
  async (t) => {
    const server = await sharedServer(examples);
    const page = await freshPage(t);
    await page.goto(server.at(`/s/${TORCH}/kernels`));
    await settled(page);
    const here = await hashOf(page);
    const row = page.locator(".table-row").first();
    const cells = row.locator(":scope > span");
    const link = row.locator("a.row-link");
    await link.waitFor();
    const target = await link.getAttribute("href");
    assert.match(target, /^#\/s\/.+\/kernels\/.+/);

    const held = { modifiers: ["ControlOrMeta"] };
    assert.equal(await opensBeside(page, () => cells.nth(1).click(held)), target);
    assert.equal(await opensBeside(page, () => link.click(held)), target);
    assert.equal(await opensBeside(page, () => cells.nth(2).click({ button: "middle" })), target);
    await page.getByRole("grid", { name: "kernels" }).focus();
    assert.equal(await opensBeside(page, () => page.keyboard.press("Control+Enter")), target);
    assert.equal(await hashOf(page), here);

    // Over the name, which is a link, from its first letters to its last.
    const box = await link.boundingBox();
    await page.mouse.move(box.x + 20, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 4, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
    assert.notEqual(await page.evaluate(() => String(getSelection()).trim()), "");
    assert.equal(await hashOf(page), here);
    await page.evaluate(() => getSelection().empty());
    await cells.nth(1).click();
    await page.waitForFunction((hash) => location.hash === hash, target);
    assert.deepEqual(page.errors, []);
  },
);

test("a long count is read to its last digit", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  await page.route("**/sessions/*/kernels?*", async (route) => {
    const answer = await route.fetch();
    const list = await answer.json();
    for (const kernel of list.by_name ?? []) kernel.duration_ns.count = 141_300;
    list.count = 10_000_000;
    await route.fulfill({ response: answer, json: list });
  });
  for (const width of [1440, 800]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(server.at(`/s/${TORCH}/kernels`));
    await settled(page);
    const count = page.locator(".table-row").first().locator(":scope > span").nth(1);
    await until(async () => (await count.textContent()) === "141,300");
    const lacks = await count.evaluate((cell) => cell.scrollWidth - cell.clientWidth);
    assert.ok(lacks <= 0, `${lacks} px of the count are cut off at ${width} px`);
  }
});

test("a run leads to what is said of its ranks", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const { runs } = await server.ask("/runs?limit=500");
  const { id } = runs.find(
    ({ app, sessions }) => app === "rank_imbalance" && sessions.length === 2,
  );
  await page.goto(server.at("/sessions?q=rank_imbalance"));
  await settled(page);
  // The arrow shows the sessions, the row leads on.
  await page.getByRole("button", { name: "Show its sessions" }).click();
  await page.getByRole("row", { name: /rank 1/ }).waitFor();
  await page.getByRole("row", { name: /2 ranks/ }).click();
  await page.waitForFunction((run) => location.hash === `#/runs/${run}`, id);
  await settled(page);
  await page.getByText("Some ranks work more than others").waitFor();
  await page.getByText("rank 1 computes 50.0% longer than the mean").waitFor();
  await page
    .getByText(/rank 1 has the most: 55\.48 ms, 18\.49 ms more than the mean/)
    .first()
    .waitFor();
  assert.deepEqual(await findingsInLooks(page, "run"), []);
  await page.getByRole("row", { name: /^rank 1 / }).click();
  await page.waitForFunction(() => location.hash.startsWith("#/s/"));
  await settled(page);
  await page.getByRole("link", { name: "All ranks" }).click();
  await page.waitForFunction((run) => location.hash === `#/runs/${run}`, id);
  assert.deepEqual(page.errors, []);
});

test("findings of warps alone lead to the timeline", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const id = await sessionAt(server, "h200_warp_bubbles");
  await page.goto(server.at(`/s/${id}`));
  await settled(page);
  const finding = page
    .getByRole("article")
    .filter({ hasText: "Warps wait for each other" })
    .first();
  assert.equal(await finding.getByRole("link", { name: "take_turns" }).count(), 0);
  await finding.getByRole("link", { name: "See the warps on the timeline" }).click();
  await page.waitForFunction(() => location.hash.includes("/timeline"));
  assert.deepEqual(page.errors, []);
});

test("badges stay within their rows", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  await page.route("**/sections/iterations*", async (route) => {
    const answer = await route.fetch();
    const found = await answer.json();
    for (const step of found.list) step.is_warmup = true;
    await route.fulfill({ response: answer, json: found });
  });
  await page.goto(server.at(`/s/${TORCH}/iterations`));
  await settled(page);
  const badge = page.locator(".table-row .badge").first();
  await badge.scrollIntoViewIfNeeded();
  const [inside, row] = await badge.evaluate((element) => [
    element.getBoundingClientRect().toJSON(),
    element.parentElement.getBoundingClientRect().toJSON(),
  ]);
  assert.ok(inside.height <= row.height, `${inside.height} px in a row of ${row.height}`);
  assert.ok(inside.right <= row.right - 8, `ends at ${inside.right} of ${row.right}`);
});

test("names that begin alike are read to their ends", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t, { viewport: { width: 800, height: 900 } });
  await page.goto(server.at(`/s/${TORCH}/kernels`));
  await settled(page);
  // The ends are cut only where the beginning has its least already.
  const names = await page.locator(".kernels-name").evaluateAll((all) =>
    all.map((name) => {
      const [first] = name.querySelectorAll(".kernels-first .kernels-first");
      const lasts = [...name.querySelectorAll(".kernels-last")];
      const isCut = (one) => one.scrollWidth > one.clientWidth;
      const least = first ? Number.parseFloat(getComputedStyle(first).minWidth) : 0;
      return {
        text: name.innerText,
        isCut: first ? isCut(first) : false,
        hasRoom: first ? first.getBoundingClientRect().width > least + 1 : false,
        areEndsCut: lasts.some(isCut),
      };
    }),
  );
  assert.ok(names.some(({ isCut, areEndsCut }) => isCut && !areEndsCut));
  assert.deepEqual(
    names.filter(({ areEndsCut, hasRoom }) => areEndsCut && hasRoom),
    [],
  );
});

test("a narrow page says when a session of a long name was", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t, { viewport: { width: 800, height: 900 } });
  await page.goto(server.at(`/s/${await sessionAt(server, "h200_memory_nearly_full")}/memory`));
  await settled(page);
  const crumbs = page.getByRole("heading", { level: 1 });
  const [box, last] = [await crumbs.boundingBox(), await crumbs.locator("b").boundingBox()];
  assert.ok(last.x + last.width <= box.x + box.width + 1, "its time is cut off");
  const slashes = await crumbs.locator("i").evaluateAll((all) => all.map((one) => one.clientWidth));
  assert.equal(slashes.length, 2);
  assert.ok(Math.min(...slashes) > 0, `slashes of ${slashes} px`);
});

test("copying says that it was done", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(server.at(`/s/${TORCH}/kernels`));
  await settled(page);
  await page.getByRole("button", { name: "Copy", exact: true }).first().click();
  await page.getByRole("button", { name: "Copied", exact: true }).waitFor();
  const [head] = (await page.evaluate(() => navigator.clipboard.readText())).split("\n");
  assert.match(head, /^name\tcount\ttotal_ns\tshare\tmean_ns\t.*\tmax_ns/);
  // Kernels of one scope are a table, too.
  const scopes = await server.ask(`/sessions/${TORCH}/sections/scopes`);
  const { path } = scopes.find(({ kernels }) => Array.isArray(kernels) && kernels.length > 0);
  await page.goto(`${server.origin}/#/s/${TORCH}/scopes?scope=${encodeURIComponent(path)}`);
  await settled(page);
  const detail = page.locator(".panel", { has: page.locator(".scope-detail") });
  await detail.getByRole("button", { name: "Copy", exact: true }).click();
  await detail.getByRole("button", { name: "Copied", exact: true }).waitFor();
  assert.match(
    await page.evaluate(() => navigator.clipboard.readText()),
    /^kernel\tlaunches\ttotal_ns\n/,
  );
  assert.deepEqual(page.errors, []);
});

test(
  "what takes less than a tenth of a second shows no loading",
  {
    skip: whyNoBrowser,
  },
  async (t) => {
    const server = await sharedServer(examples);
    const page = await freshPage(t);
    await page.goto(server.at(`/s/${TORCH}/kernels`));
    await settled(page);
    let answer = () => {};
    const asked = new Promise((found) => {
      void page.route("**/sections/iterations*", (route) => {
        answer = () => route.continue();
        found();
      });
    });
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 3_600_000);
    await page.evaluate((id) => (location.hash = `#/s/${id}/iterations`), TORCH);
    await asked;
    await page.locator("main [aria-busy=true]").first().waitFor({ state: "attached" });
    const loading = page.locator("main").getByLabel("Loading");
    await page.clock.runFor(90);
    assert.equal(await loading.count(), 0);
    await page.clock.runFor(30);
    await loading.first().waitFor();
    answer();
    await page.clock.resume();
    await page.getByRole("heading", { name: "All steps" }).waitFor();
  },
);

test("benchmark scopes have figures of one round", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  let path = "";
  await page.route("**/sections/scopes*", async (route) => {
    const answer = await route.fetch();
    const scopes = await answer.json();
    // As a scope of gpufl.benchmark() has it; no recorded session does.
    const iteration_ns = { count: 20, total: 40_000, min: 1500, max: 2600, mean: 2000 };
    const why = { unknown: "its rounds overlap on the GPU" };
    path = scopes[0].path;
    Object.assign(scopes[0], { iteration_ns, warmup: 3, iteration_gpu_ns: why });
    await route.fulfill({ response: answer, json: scopes });
  });
  await page.goto(server.at(`/s/${TORCH}/iterations`));
  await settled(page);
  const table = page.getByRole("grid", { name: "benchmark-scopes" });
  const row = table.getByRole("row").nth(1);
  await row.waitFor();
  const cells = await row.getByRole("gridcell").allTextContents();
  assert.deepEqual(cells, [path, "20", "3", "2.00 µs", "1.50 µs", "2.60 µs", "–"]);
  await row.getByTitle("its rounds overlap on the GPU").waitFor();
  await row.click();
  await page.waitForFunction(
    (scope) => location.hash.endsWith(`/scopes?scope=${encodeURIComponent(scope)}`),
    path,
  );
  assert.deepEqual(page.errors, []);
});
