// SPDX-License-Identifier: Apache-2.0
// Every page with recorded sessions: it fills, it breaks no rule of its policy, axe has no serious finding.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  examples,
  findingsInLooks,
  freshPage,
  gpufl,
  recordings,
  scratchFolder,
  serve,
  settled,
  sharedServer,
  shareInThisFile,
  TORCH,
  whyNoBrowser,
} from "./harness.mjs";

shareInThisFile();

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
  const server = await sharedServer(examples);
  const kernel = (await server.ask(`/sessions/${TORCH}/kernels?limit=1`)).by_name[0].full_name;
  const { by_op } = await server.ask(`/sessions/${TORCH}/sections/kernels`);
  const operator = by_op.find((group) => !group.is_rest).label;
  const views = [
    ...PAGES.map((path) => `/s/${TORCH}${path}`),
    `/s/${TORCH}/kernels/${encodeURIComponent(kernel)}`,
    `/s/${TORCH}/kernels/${encodeURIComponent(kernel)}?launches=list`,
    `/s/${TORCH}/kernels?by=operator&group=${encodeURIComponent(operator)}`,
    "/sessions",
    `/compare?a=${TORCH}&b=${TORCH}`,
  ];
  const found = [];
  const page = await freshPage(t);
  await page.goto(server.address);
  for (const view of views) {
    found.push(...(await faults(page, `${server.origin}/#${view}`)));
    found.push(...(await findingsInLooks(page, view)));
  }
  assert.deepEqual(found, []);
});

test("every page of sessions of every kind", { skip: whyNoBrowser }, async (t) => {
  const server = await sharedServer(recordings);
  const page = await freshPage(t);
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

// A session of kernels and scopes of these names.
function sessionOfNames(folder, names) {
  const span = (cat, name, ts, dur, tid, args) => ({
    ph: "X",
    cat,
    name,
    pid: 0,
    tid,
    ts,
    dur,
    args,
  });
  const traceEvents = names.flatMap((name, i) => {
    const correlation = i + 1;
    const at = {
      device: 0,
      context: 1,
      stream: 7,
      grid: [1, 1, 1],
      block: [32, 1, 1],
      correlation,
    };
    return [
      span("user_annotation", name, 1000 * i, 900, 11, {}),
      span("cuda_runtime", "cudaLaunchKernel", 1000 * i + 10, 5, 11, { correlation }),
      span("kernel", name, 1000 * i + 50, 500, 7, at),
    ];
  });
  const trace = join(folder, "trace.json");
  writeFileSync(trace, JSON.stringify({ traceEvents, baseTimeNanoseconds: 1790857026000000000 }));
  const made = spawnSync(gpufl, ["import", "--output", join(folder, "logs"), trace]);
  assert.equal(made.status, 0, String(made.stderr));
  return join(folder, "logs");
}

test("names are never markup, whatever they are", { skip: whyNoBrowser }, async (t) => {
  const names = [
    `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`,
    `f<${Array(150).fill("std::pair<int, float>").join(", ")}>`,
    "../../s/other#?&a=b%00{}",
    "__proto__",
    "   ",
    "of two\nlines",
  ];
  const server = await serve(t, sessionOfNames(scratchFolder(), names));
  const page = await freshPage(t, { viewport: { width: 800, height: 900 } });
  await page.goto(server.address);
  const { sessions } = await server.ask("/sessions");
  const at = `/s/${sessions[0].id}`;
  const { by_name } = await server.ask(`/sessions/${sessions[0].id}/kernels`);
  assert.equal(by_name.length, names.length);
  const kernels = by_name.map(({ full_name }) => `/kernels/${encodeURIComponent(full_name)}`);
  const found = [];
  for (const path of [...PAGES, ...kernels]) {
    found.push(...(await faults(page, `${server.origin}/#${at}${path}`)));
    const taken = await page.evaluate(() => [
      document.title,
      document.querySelectorAll("img").length,
    ]);
    if (taken[0].includes("taken") || taken[1] > 0) found.push(`${path}: ${taken}`);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    if (overflow > 0) found.push(`${path}: ${overflow} px too wide`);
    const tall = await page
      .locator(".table-row")
      .evaluateAll((rows) => rows.filter((row) => row.scrollHeight > row.clientHeight + 1).length);
    if (tall > 0) found.push(`${path}: ${tall} rows do not fit their height`);
  }
  assert.deepEqual(found, []);
});

test("of thousands of names none is out of reach", { skip: whyNoBrowser }, async (t) => {
  const names = Array.from({ length: 2500 }, (_, i) => `part_${i}`);
  const server = await serve(t, sessionOfNames(scratchFolder(), names));
  const page = await freshPage(t);
  await page.goto(server.address);
  const { sessions } = await server.ask("/sessions");
  const at = `/s/${sessions[0].id}`;
  await page.goto(`${server.origin}/#${at}/scopes`);
  await settled(page);
  // Each is narrower than two pixels; together they are seen.
  await page.getByRole("treeitem", { name: "2,500 narrow frames" }).waitFor();
  const listed = async (what) => {
    const path = `/sessions/${sessions[0].id}/${what}?limit=2000`;
    return (await server.ask(path)).by_name.map(({ label }) => label);
  };
  const known = new Set([...(await listed("kernels")), ...(await listed("scopes"))]);
  const beyond = names.find((name) => name.length === "part_1000".length && !known.has(name));
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /^Find/ }).fill(beyond);
  await page.getByRole("link", { name: "Look among all" }).click();
  await page.getByText("1 of 2,500 rows").waitFor();
  assert.deepEqual(page.errors, []);
});
