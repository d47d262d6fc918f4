// SPDX-License-Identifier: Apache-2.0
// A session of ten million kernels: pages open before it is indexed, and what they show is right.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import {
  clickEvent,
  freshPage,
  large,
  plotOf,
  scratchFolder,
  serve,
  sessionAt,
  settled,
  shareInThisFile,
  untilAddress,
  whyNoWriters,
} from "./harness.mjs";

shareInThisFile();

const KERNELS = 10_000_000;
const PICKED = 5;

test("ten million kernels", { skip: whyNoWriters }, async (t) => {
  const logs = scratchFolder();
  assert.equal(spawnSync(large, [join(logs, "large"), String(KERNELS)]).status, 0);
  const server = await serve(t, logs);
  const page = await freshPage(t);
  const id = await sessionAt(server, "large");
  await page.goto(server.at(`/s/${id}/timeline`));
  // There is something to see from the first window on, and in the end all of it.
  await page.locator(".tl-label", { hasText: "tream" }).first().waitFor();
  await page.getByText(/reading the session/).waitFor({ state: "detached" });
  await settled(page);
  const { tracks, span } = await server.ask(`/sessions/${id}/tracks`);
  const kernels = tracks.filter(({ kind }) => kind === "kernels");
  assert.equal(
    kernels.reduce((sum, { events }) => sum + events, 0),
    KERNELS,
  );
  const { id: track } = kernels[0];

  // Of kernels all over the session: where the log has them, the page has them.
  const plot = await plotOf(page);
  for (let i = 1; i <= PICKED; ++i) {
    const from = Math.round(span[0] + ((span[1] - span[0]) * i) / (PICKED + 1));
    const { events } = await server.ask(
      `/sessions/${id}/events?tracks=${track}&starts_from=${from}&limit=1`,
    );
    const { event, start_ns, duration_ns, label } = events[0];
    const view = `from=${start_ns - duration_ns}&to=${start_ns + 2 * duration_ns}`;
    await page.goto(`${server.origin}/#/s/${id}/timeline?${view}`);
    await untilAddress(page, (one) => one.get("from") === String(start_ns - duration_ns));
    await settled(page);
    await clickEvent(page, plot.x + plot.width / 2, await plot.rowOf("tream"));
    await untilAddress(page, (one) => one.get("event") === `${track}/${event}`);
    const card = page.getByLabel("Selected event");
    assert.ok((await card.innerText()).includes(label), label);
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
  }

  // Zoomed out again by the keyboard: the view is the whole session, with its sums.
  await page.keyboard.press("0");
  await untilAddress(page, (one) => !one.has("from"));
  await settled(page);
  const { x, width, ruler } = plot;
  await page.mouse.move(x + 1, ruler);
  await page.mouse.down();
  await page.mouse.move(x + width - 1, ruler, { steps: 4 });
  await page.mouse.up();
  const bar = page.locator(".tlp-bar");
  const counted = async () =>
    Number(/kernels ([\d,]+)/.exec(await bar.innerText())?.[1].replaceAll(",", "") ?? 0);
  await page.waitForFunction(() =>
    /kernels [\d,]+/.test(document.querySelector(".tlp-bar").innerText),
  );
  assert.ok((await counted()) > 0.98 * KERNELS, String(await counted()));

  await page.goto(`${server.origin}/#/s/${id}/kernels`);
  await settled(page);
  const { by_name } = await server.ask(`/sessions/${id}/kernels?limit=10000`);
  assert.equal(
    by_name.reduce((sum, { duration_ns }) => sum + duration_ns.count, 0),
    KERNELS,
  );
  const most = Math.max(...by_name.map(({ duration_ns }) => duration_ns.count));
  await page
    .getByRole("row")
    .filter({ hasText: most.toLocaleString("en-US") })
    .first()
    .waitFor();
  assert.deepEqual(page.errors, []);
});
