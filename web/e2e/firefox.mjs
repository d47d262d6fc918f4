// SPDX-License-Identifier: Apache-2.0
// As much of WebDriver BiDi as one flow in Debian's Firefox needs; it speaks it without a driver.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { PATIENCE_MS, scratchFolder } from "./harness.mjs";

const FIREFOX = "/usr/bin/firefox-esr";
export const whyNoFirefox = existsSync(FIREFOX) ? false : `there is no ${FIREFOX}`;

class Firefox {
  #socket;
  #waiting = new Map();
  #last = 0;

  async connect(url) {
    this.#socket = new WebSocket(`${url}/session`);
    this.#socket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data);
      const waiting = this.#waiting.get(message.id);
      if (!waiting) return;
      this.#waiting.delete(message.id);
      if (message.type === "success") waiting.done(message.result);
      else waiting.failed(new Error(`${message.error}: ${message.message}`));
    });
    await new Promise((open, failed) => {
      this.#socket.addEventListener("open", open);
      this.#socket.addEventListener("error", failed);
    });
    await this.send("session.new", { capabilities: {} });
    const { contexts } = await this.send("browsingContext.getTree", {});
    this.context = contexts[0].context;
  }

  send(method, params) {
    const id = ++this.#last;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done, failed) => this.#waiting.set(id, { done, failed }));
  }

  open(url) {
    return this.send("browsingContext.navigate", { context: this.context, url, wait: "complete" });
  }

  // The value of an expression, of a kind that JSON has.
  async evaluate(expression) {
    const answer = await this.send("script.evaluate", {
      expression: `JSON.stringify(${expression})`,
      target: { context: this.context },
      awaitPromise: true,
    });
    if (answer.type !== "success") throw new Error(answer.exceptionDetails.text);
    return answer.result.value === undefined ? undefined : JSON.parse(answer.result.value);
  }

  async until(expression) {
    const end = Date.now() + PATIENCE_MS;
    while (!(await this.evaluate(`Boolean(${expression})`))) {
      if (Date.now() > end) throw new Error(`never: ${expression}`);
      await new Promise((later) => setTimeout(later, 50));
    }
  }

  press(...values) {
    const actions = values.flatMap((value) => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ]);
    return this.send("input.performActions", {
      context: this.context,
      actions: [{ type: "key", id: "keys", actions }],
    });
  }
}

export async function launchFirefox(test) {
  const profile = scratchFolder();
  const program = spawn(
    FIREFOX,
    ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"],
    {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, MOZ_DISABLE_CONTENT_SANDBOX: "1" },
    },
  );
  const ended = new Promise((done) => program.on("exit", done));
  test.after(async () => {
    program.kill("SIGKILL");
    await ended;
  });
  const url = await new Promise((found, failed) => {
    let text = "";
    program.stderr.on("data", (part) => {
      text += part;
      const match = /WebDriver BiDi listening on (ws:\S+)/.exec(text);
      if (match) found(match[1]);
    });
    ended.then((code) => failed(new Error(`Firefox ended with ${code}: ${text}`)));
  });
  const firefox = new Firefox();
  await firefox.connect(url);
  return firefox;
}
