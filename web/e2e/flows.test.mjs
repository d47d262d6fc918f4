// SPDX-License-Identifier: Apache-2.0
// What people do on the pages.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  examples,
  launch,
  openPage,
  recordings,
  serve,
  settled,
  TORCH,
  whyNoBrowser,
} from "./harness.mjs";

test("the token becomes a cookie and leaves the address", { skip: whyNoBrowser }, async (t) => {
  const server = await serve(t, examples);
  const page = await openPage(await launch(t));
  await page.goto(server.at(`/s/${TORCH}/kernels`));
  await settled(page);
  assert.ok(!page.url().includes("token"), page.url());
  assert.ok(page.url().endsWith(`#/s/${TORCH}/kernels`), page.url());
  const stranger = await openPage(page.context().browser());
  await stranger.goto(`${server.origin}/#/sessions`);
  await stranger.getByText("open the address that gpufl").first().waitFor();
});

test("from the overview to the line that makes the GPU wait", { skip: whyNoBrowser }, async (t) => {
  const server = await serve(t, recordings);
  const page = await openPage(await launch(t));
  const { sessions } = await server.ask("/sessions?limit=500");
  const { id } = sessions.find(({ path }) => path === "h200_in_loop_sync");
  const waits = await server.ask(`/sessions/${id}/sections/waits`);
  const { file, line } = waits.by_line.find(({ file }) => file);
  await page.goto(server.at(`/s/${id}`));
  await settled(page);
  await page.getByRole("link", { name: "Synchronization" }).click();
  await settled(page);
  const place = `${file.split("/").pop()}:${line}`;
  await page.getByText(place).first().waitFor();
  assert.deepEqual(page.errors, []);
});

test("a link shows the same view", { skip: whyNoBrowser }, async (t) => {
  const server = await serve(t, examples);
  const browser = await launch(t);
  const page = await openPage(browser);
  await page.goto(server.at(`/s/${TORCH}/timeline?from=60000000&to=90000000`));
  await settled(page);
  await page.locator("canvas").first().focus();
  await page.keyboard.press("w");
  await page.waitForFunction(() => !location.hash.includes("from=60000000&to=90000000"));
  const address = page.url();
  const other = await openPage(browser);
  await other.goto(server.address);
  await other.goto(address);
  await settled(other);
  assert.equal(other.url(), address);
});

test("the palette opens pages and kernels", { skip: whyNoBrowser }, async (t) => {
  const server = await serve(t, examples);
  const page = await openPage(await launch(t));
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
