// SPDX-License-Identifier: Apache-2.0
// A hosted server, with accounts and workspaces, for the tests beside this file.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { examples, gpufl, scratchFolder, settled, TORCH, until } from "./harness.mjs";

const PASSWORD = "a long enough password";

export function admin(data, words, input = "") {
  const said = spawnSync(gpufl, ["admin", ...words, "--data", data], { input, encoding: "utf8" });
  assert.equal(said.status, 0, said.stderr);
  return said.stdout.trim();
}

// Ends with the test. What the first group of `said` matches, once it prints that.
export async function startProgram(t, program, words, said, variables = {}) {
  const started = spawn(program, words, {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...variables },
  });
  const ended = new Promise((done) => started.on("exit", done));
  const stop = async () => {
    started.kill("SIGKILL");
    await ended;
  };
  t.after(stop);
  const found = await new Promise((found, failed) => {
    let text = "";
    started.stdout.on("data", (part) => {
      text += part;
      const match = said.exec(text);
      if (match) found(match[1]);
    });
    ended.then((code) => failed(new Error(`${program} ended with ${code}`)));
  });
  return { found, stop };
}

export async function serveHosted(t, { folder = scratchFolder(), port = 0, words = [] } = {}) {
  const data = join(folder, "data");
  const where = ["serve", "--data", data, "--listen", `127.0.0.1:${port}`, ...words];
  const said = /GPUFlight on (http:\S+?)\/?\n/;
  const { found: origin, stop } = await startProgram(t, gpufl, where, said);
  return { data, origin, stop };
}

export async function sendSession({ data, origin }) {
  const folder = join(examples, "h200_torch");
  const headers = { Authorization: `Bearer ${admin(data, ["key", "add", "test"])}` };
  for (const name of readdirSync(folder)) {
    const [channel, number] = name.split(".");
    const what =
      channel === "manifest"
        ? "kind=manifest&version=1"
        : `kind=window&channel=${channel}&number=${number}`;
    const answer = await fetch(`${origin}/api/v1/events/stream?session=${TORCH}&${what}`, {
      method: "POST",
      headers,
      body: readFileSync(join(folder, name)),
    });
    assert.equal(answer.status, 200, await answer.text());
  }
}

// Opens what somebody sent her: the login leads on to it.
export async function logIn(page, { data, origin }, sent = `#/s/${TORCH}`) {
  admin(data, ["user", "add", "ada", "--role", "admin"]);
  admin(data, ["password", "ada"], `${PASSWORD}\n`);
  // The server takes over what another program changed within a moment.
  const knowsHer = async () => {
    const answer = await fetch(`${origin}/api/v1/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ user: "ada", password: PASSWORD }),
    });
    return answer.status === 200;
  };
  await until(knowsHer);
  await page.goto(`${origin}/w/default/${sent}`);
  await page.getByLabel("Name").fill("ada");
  await page.getByLabel("Password").first().fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await until(() => page.url().startsWith(`${origin}/w/default/${sent}`));
  await settled(page);
  await page.goto(`${origin}/`);
  await page.getByRole("link", { name: "default" }).waitFor();
}
