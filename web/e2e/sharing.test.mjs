// SPDX-License-Identifier: Apache-2.0
// A hosted server: somebody shares a session by a link, and a guest without an account looks at it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, openPage, seriousFindings, settled, TORCH, whyNoBrowser } from "./harness.mjs";
import { logIn, sendSession, serveHosted } from "./hosted.mjs";

test("a guest sees one session by a link, until it is ended", { skip: whyNoBrowser }, async (t) => {
  const server = await serveHosted(t);
  await sendSession(server);
  const browser = await launch(t);
  const page = await openPage(browser);
  await logIn(page, server);
  page.errors.length = 0;
  await page.goto(`${server.origin}/w/default/#/s/${TORCH}`);
  await settled(page);

  await page.getByRole("button", { name: "Share session" }).click();
  const dialog = page.getByRole("dialog", { name: "Share this session" });
  await dialog.getByText("Links to sessions are off in this workspace").waitFor();
  await dialog.getByRole("button", { name: "Let members share sessions by links" }).click();
  await dialog.getByLabel(/Valid for/).selectOption("an hour");
  await dialog.getByLabel(/Files of the log/).check();
  assert.ok(await dialog.getByLabel(/Command line/).isChecked(), "files have it in them");
  assert.ok(await dialog.getByLabel(/Source text/).isDisabled());
  await dialog.getByLabel(/Files of the log/).uncheck();
  assert.ok(!(await dialog.getByLabel(/Command line/).isChecked()));
  assert.deepEqual(await seriousFindings(page), []);
  await dialog.getByRole("button", { name: "Make a link" }).click();
  await dialog.getByText("it is not shown again").waitFor();
  const link = (await dialog.getByTitle("Copy").textContent()).trim();
  assert.match(link, /^http:\S+\/#shared=gpfs_[0-9a-f]{80}$/);
  await dialog.getByText(/until .*, figures only/).waitFor();
  assert.deepEqual(await seriousFindings(page), []);

  const guest = await openPage(browser);
  const asked = [];
  guest.on("request", (request) => asked.push(request.url()));
  await guest.goto(link);
  await guest.waitForURL(/\/shared\/[0-9a-f]{16}\/#\/s\//);
  await settled(guest);
  await guest.getByText("gpt_training").first().waitFor();
  assert.ok(!asked.slice(1).some((url) => url.includes("gpfs_")), "the token is in no address");
  for (const name of ["Share session", "Compare", "All sessions"]) {
    assert.equal(await guest.getByText(name, { exact: true }).count(), 0, name);
  }
  for (const tab of [
    "Timeline",
    "Kernels",
    "Scopes",
    "Synchronization",
    "Memory",
    "Health",
    "Log",
  ]) {
    await guest.getByRole("link", { name: tab, exact: true }).first().click();
    await settled(guest);
    assert.equal(await guest.locator(".failed").count(), 0, `${tab} failed`);
    const text = await guest.locator("body").innerText();
    assert.ok(!text.includes("labels.py /tmp/ex"), `${tab} has the command line`);
    for (const unknown of ["Process id", "Folder", "Account of", "gpufl symbolize"]) {
      const at = text.indexOf(unknown);
      assert.ok(at < 0, `${tab} has "${text.slice(Math.max(at - 40, 0), at + 80)}"`);
    }
  }
  assert.equal(await guest.getByText("Export", { exact: true }).count(), 0);
  assert.deepEqual(await seriousFindings(guest), []);
  assert.deepEqual(guest.errors, []);
  await guest.goto(guest.url().replace(/#.*/, "#/sessions"));
  await guest.waitForURL(/#\/s\//);

  await dialog.getByRole("button", { name: "End" }).click();
  await dialog.getByRole("button", { name: "Make a link" }).waitFor();
  assert.deepEqual(page.errors, []);
  await guest.reload();
  await guest.getByText("This link does not count").waitFor();
  await guest.goto(link);
  await guest.getByText("This link does not count").waitFor();
});

test("a workspace without GPUs says how to send to it", { skip: whyNoBrowser }, async (t) => {
  const server = await serveHosted(t);
  const browser = await launch(t);
  const page = await openPage(browser);
  await logIn(page, server, "");
  page.errors.length = 0;
  await page.goto(`${server.origin}/w/default/`);
  await settled(page);
  await page.getByText(`gpufl login ${server.origin}`, { exact: true }).waitFor();
  await page.getByText("gpufl trace --upload -- python train.py", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Fleet" }).click();
  await page.getByText("No GPU has sent readings yet").waitFor();
  await page.getByText(`gpufl login ${server.origin}`, { exact: true }).waitFor();
  await page.getByText("gpufl monitor --upload", { exact: true }).waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  assert.deepEqual(page.errors, []);
});
