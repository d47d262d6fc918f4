// SPDX-License-Identifier: Apache-2.0
// A real server over recorded sessions, and Debian's Chromium. Tests end both, whatever happens.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after } from "node:test";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
export const root = resolve(import.meta.dirname, "../..");
export const programs = process.env.GPUFL_PROGRAMS ?? join(root, "build/release/bin");
export const gpufl = join(programs, "gpufl");
export const recordings = join(root, "tests/replay/recordings");
export const examples = join(root, "examples/sessions");
export const TORCH = "20261115T224904.846623Z-c3bd847cafc2abbd";
export const PATIENCE_MS = 60_000;

export const CHROMIUM = "/usr/bin/chromium";
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const whyNoBrowser = existsSync(CHROMIUM) ? false : `there is no ${CHROMIUM}`;

// Goes when all tests have ended, and with them the programs that write to it.
export function scratchFolder() {
  const folder = mkdtempSync(join(tmpdir(), "gpufl-web-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

// What shows SASS; `./dev setup test` installs it.
const disassembler = process.env.GPUFL_NVDISASM ?? join(root, ".deps/cuda/bin/nvdisasm");
export const whyNoCode =
  whyNoBrowser || (existsSync(disassembler) ? false : "there is no nvdisasm");

export class Server {
  constructor(folder, cache, listen, options) {
    const where = ["--cache", cache, "--listen", listen];
    this.process = spawn(gpufl, ["serve", folder, ...where, ...options], {
      env: { ...process.env, GPUFL_NVDISASM: disassembler },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.ended = new Promise((done) => this.process.on("exit", done));
  }

  static async start(folder, cache, listen = "127.0.0.1:0", options = []) {
    const server = new Server(folder, cache, listen, options);
    server.address = await new Promise((found, failed) => {
      let text = "";
      server.process.stdout.on("data", (part) => {
        text += part;
        const match = /http:\S+\?token=\S+/.exec(text);
        if (match) found(match[0]);
      });
      server.ended.then((code) => failed(new Error(`gpufl serve ended with ${code}: ${text}`)));
    });
    server.origin = new URL(server.address).origin;
    server.token = new URL(server.address).searchParams.get("token");
    return server;
  }

  // The address of a view, with the token.
  at(view) {
    return `${this.address}#${view}`;
  }

  async ask(path) {
    const headers = { Authorization: `Bearer ${this.token}` };
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const answer = await fetch(`${this.origin}/api/v1${path}`, { headers });
      if (answer.status === 200) return answer.json();
      if (answer.status !== 202 || Date.now() > until) {
        throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      }
      await new Promise((later) => setTimeout(later, 50));
    }
  }

  async stop() {
    if (this.process.exitCode === null) this.process.kill("SIGTERM");
    await this.ended;
  }
}

export async function serve(test, folder, listen) {
  const server = await Server.start(folder, join(scratchFolder(), "cache"), listen);
  test.after(() => server.stop());
  return server;
}

export async function launch(test) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  test.after(() => browser.close());
  return browser;
}

// One browser and one server of a folder for all tests of a file: starting them takes longer than
// most tests do. A file that wants them says so first, outside its tests.
const shared = new Map();
export function shareInThisFile() {
  after(async () => {
    for (const { started, stop } of shared.values()) await started.then(stop, () => undefined);
  });
}
function share(key, start, stop) {
  if (!shared.has(key)) shared.set(key, { started: start(), stop });
  return shared.get(key).started;
}

export function sharedServer(folder, ...options) {
  const start = () => Server.start(folder, join(scratchFolder(), "cache"), undefined, options);
  return share([folder, ...options].join(" "), start, (server) => server.stop());
}

// A page of its own cookies and storage, in the browser that all tests of the file share.
export async function freshPage(test, options = {}) {
  const start = () => chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  const browser = await share("browser", start, (one) => one.close());
  const page = await openPage(browser, options);
  test.after(() => page.context().close());
  return page;
}

export async function sessionAt(server, folder) {
  const { sessions } = await server.ask("/sessions?limit=500");
  const found = sessions.find(({ path }) => path === folder);
  if (!found) throw new Error(`the server has no session at ${folder}`);
  return found.id;
}

// What stands below a canvas's mouse is not known to the page: where a time is, and rows are.
export async function plotOf(page) {
  const box = await page.locator(".tl-plot canvas").boundingBox();
  const at = async (ns) => {
    const view = new URLSearchParams((await page.evaluate(() => location.hash)).split("?")[1]);
    const [from, to] = ["from", "to"].map((name) => Number(view.get(name)));
    return box.x + ((ns - from) / (to - from)) * box.width;
  };
  // The middle of a track's first row.
  const rowOf = async (name) => {
    const label = await page.locator(".tl-label", { hasText: name }).first().boundingBox();
    return label.y + 8;
  };
  return { ...box, at, rowOf, ruler: box.y + 12 };
}

// Once there is an event under the pointer: at first it may be one of several that are drawn as one.
export async function clickEvent(page, x, y) {
  await page.mouse.move(x, y);
  await page.locator(".tl-plot.over-event").waitFor();
  await page.mouse.click(x, y);
}

export const hashOf = (page) => page.evaluate(() => location.hash);

// Whether the parameters of the address are as `isAsWanted` says, sooner or later.
export async function untilAddress(page, isAsWanted) {
  const parameters = async () => new URLSearchParams((await hashOf(page)).split("?")[1] ?? "");
  const isThere = async () => isAsWanted(await parameters());
  await until(isThere, async () => `the address stayed ${await hashOf(page)}`);
  return parameters();
}

// Asks again until it is so.
export async function until(isSo, why = () => `it never was: ${isSo}`) {
  const end = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(await why());
    await new Promise((later) => setTimeout(later, 30));
  }
}

// A page whose errors are kept: of scripts, of the console and of the content policy.
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  return Object.assign(page, { errors: watch(page) });
}

export function watch(page) {
  const errors = [];
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  return errors;
}

export const live = join(programs, "live_session");
export const large = join(programs, "kernel_session");
const lacking = [live, large].find((program) => !existsSync(program));
export const whyNoWriters =
  whyNoBrowser || (lacking && `there is no ${lacking}: './dev build release' makes it`) || false;

// A session that grows as it is told.
export class Recorder {
  constructor(folder) {
    this.folder = folder;
    this.process = spawn(live, [folder], { stdio: ["pipe", "pipe", "inherit"] });
    this.ended = new Promise((done) => this.process.on("exit", done));
    this.answers = [];
    this.process.stdout.on("data", (text) => {
      for (const _ of String(text).matchAll(/done\n/g)) this.answers.shift()?.();
    });
  }

  tell(command) {
    const answered = new Promise((done) => this.answers.push(done));
    this.process.stdin.write(`${command}\n`);
    return Promise.race([
      answered,
      this.ended.then((code) => Promise.reject(new Error(`the recorder ended with ${code}`))),
    ]);
  }

  async end() {
    this.process.stdin.end();
    await this.ended;
  }
}

export async function record(test, folder) {
  const recorder = new Recorder(folder);
  test.after(async () => {
    recorder.process.kill("SIGKILL");
    await recorder.ended;
  });
  await recorder.tell("kernels 1000");
  return recorder;
}

// The page with nothing left to load, or null where it failed.
export async function settled(page) {
  await page.locator("main, .data-table, .empty").first().waitFor();
  await page.waitForFunction(() => !document.querySelector("[aria-busy=true], .running"));
}

const axe = readFileSync(require.resolve("axe-core"), "utf8");

export async function seriousFindings(page) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] }),
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}

export const LOOKS = [
  { colorScheme: "light", width: 1440 },
  { colorScheme: "light", width: 800 },
  { colorScheme: "dark", width: 800 },
  { colorScheme: "dark", width: 1440 },
];

// What is wrong with the page as it stands, in each of these looks. Colours change at once where
// motion is reduced.
export async function findingsInLooks(page, where, looks = LOOKS) {
  const found = [];
  for (const { colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 900 });
    const look = `${where} ${colorScheme} ${width}`;
    for (const finding of await seriousFindings(page)) found.push(`${look}: ${finding}`);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    if (overflow > 0) found.push(`${look}: ${overflow} px too wide`);
  }
  return found;
}
