// SPDX-License-Identifier: Apache-2.0
// The timeline by mouse, and the cursor that it shares with other pages.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clickEvent,
  examples,
  freshPage,
  hashOf,
  plotOf,
  recordings,
  seriousFindings,
  sessionAt,
  settled,
  sharedServer,
  shareInThisFile,
  TORCH,
  until,
  untilAddress,
  whyNoBrowser,
} from "./harness.mjs";

shareInThisFile();

const lengthOf = (view) => Number(view.get("to")) - Number(view.get("from"));

async function kernelsOf(server, id) {
  const { tracks } = await server.ask(`/sessions/${id}/tracks`);
  return tracks.find(({ kind }) => kind === "kernels").id;
}

test("wheel and drag move the view", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  await page.goto(server.at(`/s/${TORCH}/timeline?from=60000000&to=90000000`));
  await settled(page);
  const plot = await plotOf(page);
  const middle = [plot.x + plot.width / 2, plot.y + plot.height / 2];
  await page.mouse.move(...middle);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -240);
  await page.keyboard.up("Control");
  let view = await untilAddress(page, (one) => lengthOf(one) < 29e6);
  // What is below the pointer stays there.
  const centre = (Number(view.get("from")) + Number(view.get("to"))) / 2;
  assert.ok(Math.abs(centre - 75e6) < lengthOf(view) / 100, String(centre));
  const before = Number(view.get("from"));
  const length = lengthOf(view);
  await page.mouse.down();
  await page.mouse.move(middle[0] - plot.width / 4, middle[1], { steps: 4 });
  await page.mouse.up();
  view = await untilAddress(page, (one) => Number(one.get("from")) !== before);
  assert.ok(Math.abs(lengthOf(view) - length) <= 2);
  assert.ok(Math.abs(Number(view.get("from")) - before - length / 4) < length / 50);
  assert.deepEqual(page.errors, []);
});

test("what is in view is said right from the start", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  await page.addInitScript(() => {
    window.said = new Set();
    const look = () => {
      const note = document.querySelector(".tlp header .note")?.textContent;
      if (note) window.said.add(note);
    };
    new MutationObserver(look).observe(document, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
  for (const view of ["", "?from=60000000&to=90000000"]) {
    await page.goto("about:blank");
    await page.goto(server.at(`/s/${TORCH}/timeline${view}`));
    await settled(page);
    await page.waitForFunction(() => window.said.size > 0);
    await page.keyboard.press("d");
    await page.waitForFunction(() => location.hash.includes("from="));
    const said = await page.evaluate(() => [...window.said]);
    assert.deepEqual(said, [view === "" ? "271.9 ms in view" : "30 ms in view"]);
  }
});

test("a range by mouse has the sums that the server gives", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  await page.goto(server.at(`/s/${TORCH}/timeline?from=60000000&to=90000000`));
  await settled(page);
  const plot = await plotOf(page);
  await page.mouse.move(await plot.at(65e6), plot.ruler);
  await page.mouse.down();
  await page.mouse.move(await plot.at(80e6), plot.ruler, { steps: 5 });
  await page.mouse.up();
  const view = await untilAddress(page, (one) => one.has("sel"));
  const [from, to] = view.get("sel").split(",").map(Number);
  assert.ok(Math.abs(from - 65e6) < 1e5 && Math.abs(to - 80e6) < 1e5, view.get("sel"));
  const { tracks } = await server.ask(`/sessions/${TORCH}/selection?from=${from}&to=${to}`);
  const kernels = tracks
    .filter(({ id }) => id.startsWith("kernels:"))
    .reduce((sum, { count }) => sum + count, 0);
  assert.ok(kernels > 10);
  const bar = page.locator(".tlp-bar");
  await bar.getByText(`kernels ${kernels}`, { exact: false }).first().waitFor();
  await page.getByRole("button", { name: "Names" }).click();
  await page.locator(".tlp-names").waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  await page.getByRole("button", { name: "Zoom" }).click();
  await untilAddress(page, (one) => Math.abs(lengthOf(one) - (to - from)) <= 2);
  await page.keyboard.press("Escape");
  await untilAddress(page, (one) => !one.has("sel"));
  assert.deepEqual(page.errors, []);
});

test("a narrow page shows a card below the tracks", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t, { viewport: { width: 800, height: 900 } });
  const kernels = await kernelsOf(server, TORCH);
  const ask = `/sessions/${TORCH}/events?tracks=${kernels}&from=104000000&to=104600000&limit=5`;
  const [{ event, start_ns }] = (await server.ask(ask)).events;
  await page.goto(server.at(`/s/${TORCH}/timeline?event=${kernels}/${event}`));
  await settled(page);
  const card = page.getByLabel("Selected event");
  await card.waitFor();
  const plot = await page.locator(".tl-plot canvas").boundingBox();
  const below = await card.boundingBox();
  assert.ok(below.y >= plot.y + plot.height - 1, `${below.y} ${plot.y + plot.height}`);
  assert.ok(plot.height > 200, String(plot.height));
  // Both ends of the arrow are in view.
  await card.getByRole("button", { name: "Zoom" }).click();
  await untilAddress(page, (one) => lengthOf(one) < 1e6);
  await card.getByRole("button", { name: "Its call" }).click();
  await untilAddress(
    page,
    (one) =>
      one.get("event")?.startsWith("kernel_calls") &&
      Number(one.get("from")) <= start_ns &&
      start_ns <= Number(one.get("to")),
  );
  assert.deepEqual(page.errors, []);
});

test("search counts and steps, and arrows go along the row", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const id = await sessionAt(server, "h200_sync_in_loop");
  const { matches } = await server.ask(`/sessions/${id}/search?q=scale`);
  await page.goto(server.at(`/s/${id}/timeline`));
  await settled(page);
  await page.keyboard.press("/");
  // At once: a search begins where the letters pause, and selects what it finds.
  await page.keyboard.insertText("scale");
  await page.getByText(`1 of ${matches}`).waitFor();
  const card = page.locator(".tlp-card dl").first();
  const first = await card.innerText();
  await page.keyboard.press("Enter");
  await page.waitForFunction(
    (text) => document.querySelector(".tlp-card dl")?.innerText !== text,
    first,
  );
  await page.getByRole("button", { name: "Match before" }).click();
  await page.waitForFunction(
    (text) => document.querySelector(".tlp-card dl")?.innerText === text,
    first,
  );
  // On from there by the arrows.
  await page.locator("canvas").first().focus();
  await page.keyboard.press("f");
  for (let i = 0; i < 8; ++i) await page.keyboard.press("s");
  // Before its events are told apart, an arrow zooms in.
  await untilAddress(page, (one) => lengthOf(one) > 1e5);
  await settled(page);
  // A key does nothing while its neighbours are on their way.
  const press = async (key, isThere) => {
    await page.keyboard.press(key);
    await page.waitForTimeout(20);
    return isThere((await card.innerText()) === first);
  };
  await until(() => press("ArrowRight", (isFirst) => !isFirst));
  await until(() => press("ArrowLeft", (isFirst) => isFirst));
  assert.deepEqual(page.errors, []);
});

test("a search that comes back leaves what was typed since", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const id = await sessionAt(server, "h200_sync_in_loop");
  const { matches } = await server.ask(`/sessions/${id}/search?q=scale`);
  await page.goto(server.at(`/s/${id}/timeline`));
  await settled(page);
  await page.keyboard.press("/");
  await page.keyboard.type("scale", { delay: 225 });
  await page.getByText(new RegExp(`^(\\d+ of ${matches}|${matches} matches)$`)).waitFor();
  assert.equal(await page.getByRole("searchbox").inputValue(), "scale");
  assert.deepEqual(page.errors, []);
});

test(
  "tracks are pinned and collapsed, and an event is chosen",
  { skip: whyNoBrowser },
  async (t) => {
    const server = await sharedServer(recordings);
    const page = await freshPage(t);
    const id = await sessionAt(server, "h200_sync_in_loop");
    const track = await kernelsOf(server, id);
    const { events } = await server.ask(`/sessions/${id}/events?tracks=${track}&limit=5`);
    const { start_ns, duration_ns, event } = events.at(-1);
    const view = `from=${start_ns - duration_ns}&to=${start_ns + 2 * duration_ns}`;
    await page.goto(server.at(`/s/${id}/timeline?${view}`));
    await settled(page);
    await page
      .getByRole("button", { name: /^pin .*[Ss]tream/ })
      .first()
      .click();
    await untilAddress(page, (one) => one.get("pinned") === track);
    const label = page.locator(".tl-labels-pinned .tl-label");
    await label.waitFor();
    const plot = await plotOf(page);
    const box = await label.boundingBox();
    await clickEvent(page, await plot.at(start_ns + duration_ns / 2), box.y + 8);
    await untilAddress(page, (one) => one.get("event") === `${track}/${event}`);
    await page.getByLabel("Selected event").waitFor();
    assert.deepEqual(await seriousFindings(page), []);
    await page.getByRole("button", { name: /^unpin / }).click();
    await untilAddress(page, (one) => !one.has("pinned"));
    const group = page.locator(".tl-label.tl-group .tl-toggle[aria-expanded=true]").first();
    const shown = await page.locator(".tl-label").count();
    await group.click();
    const closed = (await untilAddress(page, (one) => one.has("collapsed"))).get("collapsed");
    assert.notEqual(closed, "");
    assert.notEqual(await page.locator(".tl-label").count(), shown);
    assert.deepEqual(page.errors, []);
  },
);

test("one cursor for the timeline, health and memory", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const id = await sessionAt(server, "h200_power_cap");
  const { span } = await server.ask(`/sessions/${id}/tracks`);
  const [from, to] = [Math.round(span[0]), Math.round(span[1])];
  await page.goto(server.at(`/s/${id}/timeline?from=${from}&to=${to}`));
  await settled(page);
  const plot = await plotOf(page);
  await page.mouse.click(plot.x + plot.width / 2, plot.ruler);
  const at = Number((await untilAddress(page, (one) => one.has("at"))).get("at"));
  assert.ok(Math.abs(at - (from + to) / 2) < (to - from) / 100);
  await page.getByText("Cursor at").waitFor();

  await page.getByRole("link", { name: "Readings then" }).click();
  await untilAddress(page, (one) => one.get("at") === String(at));
  await settled(page);
  const slider = page.getByRole("slider", { name: "Power" });
  const moment = Number(await slider.getAttribute("aria-valuenow"));
  assert.ok(Math.abs(moment - at) < (to - from) / 20, `${moment} is far from ${at}`);
  // It goes along to other pages, and changes there.
  await page.getByRole("link", { name: "Memory", exact: true }).click();
  await page.waitForFunction(() => location.hash.includes("/memory"));
  await untilAddress(page, (one) => one.get("at") === String(at));
  await settled(page);
  const chart = page.getByRole("slider").first();
  await chart.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  const moved = (await untilAddress(page, (one) => one.get("at") !== String(at))).get("at");
  await page.getByRole("link", { name: "See it on the timeline" }).click();
  await page.waitForFunction(() => location.hash.includes("/timeline"));
  const view = await untilAddress(page, (one) => one.get("at") === moved && one.has("from"));
  assert.ok(Number(view.get("from")) <= Number(moved) && Number(moved) <= Number(view.get("to")));
  await page.getByText("Cursor at").waitFor();
  await page.keyboard.press("Escape");
  await untilAddress(page, (one) => !one.has("at"));
  await page.getByRole("link", { name: "Health", exact: true }).click();
  await page.waitForFunction(() => location.hash.endsWith("/health"));
  await settled(page);
  assert.ok(!(await hashOf(page)).includes("at="));
  assert.deepEqual(page.errors, []);
});

test(
  "an insight's evidence is one click away on the timeline",
  { skip: whyNoBrowser },
  async (t) => {
    const server = await sharedServer(recordings);
    const page = await freshPage(t);
    const id = await sessionAt(server, "h200_sync_in_loop");
    await page.goto(server.at(`/s/${id}`));
    await settled(page);
    const links = page.locator("main a[href*='timeline?from=']").filter({ visible: true });
    const href = await links.first().getAttribute("href");
    const wanted = new URLSearchParams(href.split("?")[1]);
    await links.first().click();
    await page.waitForFunction(() => location.hash.includes("/timeline"));
    const view = await untilAddress(page, (one) => one.get("from") === wanted.get("from"));
    assert.equal(view.get("to"), wanted.get("to"));
    await settled(page);
    assert.deepEqual(page.errors, []);
  },
);
