// SPDX-License-Identifier: Apache-2.0
// Every page with recorded sessions: it fills, it breaks no rule of its policy, axe has no serious finding.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  examples,
  launch,
  openPage,
  recordings,
  seriousFindings,
  serve,
  settled,
  TORCH,
  whyNoBrowser,
} from "./harness.mjs";

const PAGES = [
  "",
  "/timeline",
  "/kernels",
  "/iterations",
  "/scopes",
  "/sync",
  "/memory",
  "/health",
  "/counters",
  "/log",
];

// What is wrong with a view; all of it, so that one run shows everything.
async function faults(page, address) {
  await page.goto(address);
  await settled(page);
  const alerts = await page.locator("[role=alert]").allTextContents();
  return [...alerts, ...page.errors.splice(0)].map((fault) => `${address}: ${fault}`);
}

test("every page of a session", { skip: whyNoBrowser }, async (t) => {
  const server = await serve(t, examples);
  const browser = await launch(t);
  const kernel = (await server.ask(`/sessions/${TORCH}/kernels?limit=1`)).by_name[0].full_name;
  const views = [
    ...PAGES.map((path) => `/s/${TORCH}${path}`),
    `/s/${TORCH}/kernels/${encodeURIComponent(kernel)}`,
    "/sessions",
    `/compare?a=${TORCH}&b=${TORCH}`,
  ];
  const found = [];
  const looks = [
    { colorScheme: "light", width: 1440 },
    { colorScheme: "dark", width: 800 },
  ];
  for (const { colorScheme, width } of looks) {
    const page = await openPage(browser, { colorScheme, viewport: { width, height: 900 } });
    await page.goto(server.address);
    for (const view of views) {
      found.push(...(await faults(page, `${server.origin}/#${view}`)));
      const where = `${view} ${colorScheme} ${width}`;
      for (const finding of await seriousFindings(page)) found.push(`${where}: ${finding}`);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      if (overflow > 0) found.push(`${where}: ${overflow} px too wide`);
    }
    await page.context().close();
  }
  assert.deepEqual(found, []);
});

test("every page of sessions of every kind", { skip: whyNoBrowser }, async (t) => {
  const server = await serve(t, recordings);
  const browser = await launch(t);
  const page = await openPage(browser);
  await page.goto(server.address);
  const { sessions } = await server.ask("/sessions?limit=500");
  const found = [];
  const names = ["h200_monitor", "h200_stalls", "h200_graphs", "h200_warp_bubbles", "h200_copies"];
  for (const name of names) {
    const session = sessions.find(({ path }) => path === name);
    assert.ok(session, name);
    for (const path of PAGES) {
      found.push(...(await faults(page, `${server.origin}/#/s/${session.id}${path}`)));
    }
  }
  assert.deepEqual(found, []);
});
