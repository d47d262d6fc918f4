// SPDX-License-Identifier: Apache-2.0
// axe has no serious finding in what opens on a page, and in pages that lack something.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  examples,
  findingsInLooks,
  freshPage,
  LOOKS,
  recordings,
  sessionAt,
  settled,
  sharedServer,
  shareInThisFile,
  TORCH,
  whyNoBrowser,
  whyNoCode,
} from "./harness.mjs";

shareInThisFile();

// What every page is seen in elsewhere is not seen again here.
const TWO_LOOKS = LOOKS.filter(
  ({ colorScheme, width }) => (colorScheme === "dark") === (width === 1440),
);

test("dialogs", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(examples);
  const page = await freshPage(t);
  const dialog = page.getByRole("dialog");
  const found = [];
  const look = async (where) => {
    await dialog.waitFor();
    found.push(...(await findingsInLooks(page, where, TWO_LOOKS)));
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  };
  await page.goto(server.at(`/s/${TORCH}/log`));
  await settled(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("ke");
  await page.getByRole("option").first().waitFor();
  await look("palette");
  await page.keyboard.press("?");
  await look("help");
  await page
    .getByRole("button", { name: /Perfetto/ })
    .first()
    .click();
  await look("Perfetto");
  await page.goto(`${server.origin}/#/sessions`);
  await settled(page);
  await page.getByRole("button", { name: /tag/i }).filter({ visible: true }).first().click();
  await look("tags");
  await page.goto(`${server.origin}/#/compare?a=${TORCH}`);
  await settled(page);
  await page.getByRole("button", { name: "Choose a session" }).click();
  await page.locator(".pick-list").waitFor();
  await look("pick a session");
  assert.deepEqual([...found, ...page.errors], []);
});

test("what is open on a page", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const found = [];
  const look = async (where, looks = TWO_LOOKS) =>
    found.push(...(await findingsInLooks(page, where, looks)));
  const open = async (folder, path) => {
    const id = await sessionAt(server, folder);
    await page.goto(server.at(`/s/${id}${path}`));
    await settled(page);
    return id;
  };
  const id = await sessionAt(server, "h200_power_cap");
  const { tracks } = await server.ask(`/sessions/${id}/tracks`);
  const track = tracks.find(({ kind }) => kind === "kernels").id;
  const { events } = await server.ask(`/sessions/${id}/events?tracks=${track}&limit=1`);
  const { event, start_ns } = events[0];
  await open(
    "h200_power_cap",
    `/timeline?event=${track}/${event}&sel=0,${start_ns + 1_000_000}&at=1000`,
  );
  await page.getByLabel("Selected event").waitFor();
  await look("event card and sums of a range");
  await open("h200_power_cap", `/health?at=${start_ns}`);
  await look("health with readings", LOOKS);
  await open("h200_warp_bubbles", "/timeline");
  await look("warps");
  assert.deepEqual([...found, ...page.errors], []);
});

test("a kernel with its code", { skip: whyNoCode }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const id = await sessionAt(server, "h200_stalls");
  const { by_name } = await server.ask(`/sessions/${id}/kernels?limit=1`);
  await page.goto(server.at(`/s/${id}/kernels/${encodeURIComponent(by_name[0].full_name)}`));
  await settled(page);
  await page.getByRole("listbox", { name: "SASS" }).waitFor();
  assert.deepEqual(await findingsInLooks(page, "a kernel with code", TWO_LOOKS), []);
});

test("what is not there, and what fails", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
  const found = [];
  const look = async (where) => found.push(...(await findingsInLooks(page, where, TWO_LOOKS)));
  const monitor = await sessionAt(server, "h200_monitor");
  await page.goto(server.at("/s/none"));
  await page.getByRole("alert").first().waitFor();
  await look("no such session");
  await page.getByRole("main").getByText("there is no session 'none'").waitFor();
  // An address that nobody can have meant: the page says so, and what lies above it works.
  await page.goto(`${server.origin}/#/s/%E0%A4%A/timeline`);
  await page.getByRole("main").getByRole("alert").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /^Find/ }).fill("all sessions");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash === "#/sessions");
  await page.goto(`${server.origin}/#/sessions?sort=nothing`);
  await page.getByText("The address of this page asks for what the server does not know").waitFor();
  for (const path of [
    "timeline",
    "kernels",
    "iterations",
    "scopes",
    "sync",
    "memory",
    "counters",
  ]) {
    await page.goto(`${server.origin}/#/s/${monitor}/${path}`);
    await settled(page);
    await look(`${path} of a monitor`);
  }
  await page.goto(`${server.origin}/#/s/${monitor}/none`);
  await page.getByText("There is no such page").waitFor();
  await page.route("**/sections/events", (route) => route.abort());
  await page.goto(`${server.origin}/#/s/${monitor}/log`);
  await page.getByRole("alert").first().waitFor();
  await look("a panel that failed");
  await page.goto(`${server.origin}/#/sessions?q=nothing-is-called-so`);
  await page.locator(".empty").first().waitFor();
  await look("no session fits");
  assert.deepEqual(found, []);
});
