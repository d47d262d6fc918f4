// SPDX-License-Identifier: Apache-2.0
// A real server over recorded sessions, and Debian's Chromium. Tests end both, whatever happens.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
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

export class Server {
  constructor(folder, cache, listen) {
    this.process = spawn(gpufl, ["serve", folder, "--cache", cache, "--listen", listen], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.ended = new Promise((done) => this.process.on("exit", done));
  }

  static async start(folder, cache, listen = "127.0.0.1:0") {
    const server = new Server(folder, cache, listen);
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

// The page with nothing left to load, or null where it failed.
export async function settled(page) {
  await page.locator("main, .data-table, .empty").first().waitFor();
  await page.waitForFunction(() => !document.querySelector("[aria-busy=true], .running"));
}

const axe = readFileSync(require.resolve("axe-core"), "utf8");

export async function seriousFindings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] }),
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}
