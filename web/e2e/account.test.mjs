// SPDX-License-Identifier: Apache-2.0
// Who has logged in to a hosted server: the menu on pages of a workspace, and the way out.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  launch,
  openPage,
  root,
  scratchFolder,
  seriousFindings,
  settled,
  until,
  whyNoBrowser,
} from "./harness.mjs";
import { admin, logIn, serveHosted, startProgram } from "./hosted.mjs";

const SECRET = "a secret that only these two know";
// `./dev setup test` installs it where npm has a registry.
const oidc = join(root, ".deps/oidc");
const whyNoProvider =
  whyNoBrowser ||
  (existsSync(join(oidc, "installed.json")) ? false : "npm's oidc-provider is not installed");

test("the menu of one's account leads out", { skip: whyNoBrowser }, async (t) => {
  const server = await serveHosted(t);
  const page = await openPage(await launch(t));
  await logIn(page, server, "");
  page.errors.length = 0;
  await page.goto(`${server.origin}/w/default/`);
  await settled(page);

  const account = page.getByRole("button", { name: "Account of ada" });
  const role = page.getByText("admin in default");
  const workspaces = page.getByRole("link", { name: "All workspaces" });
  await account.click();
  await role.waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  assert.equal(await workspaces.evaluate((link) => link.href), `${server.origin}/`);

  // A click on its text keeps it open, and Escape gives the keyboard back.
  await role.click();
  assert.ok(await role.isVisible());
  await workspaces.focus();
  await page.keyboard.press("Escape");
  assert.equal(await role.count(), 0);
  const focused = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.equal(focused, "Account of ada");
  await page.keyboard.press("Enter");
  await role.waitFor();
  await page.getByRole("heading").first().click();
  await until(async () => (await role.count()) === 0);
  assert.deepEqual(page.errors, []);

  await account.click();
  // Ended elsewhere in the meantime.
  const ended = await page.evaluate(async () => {
    const headers = { "Content-Type": "application/json" };
    return (await fetch("../../api/v1/logout", { method: "POST", headers, body: "{}" })).status;
  });
  assert.equal(ended, 204);
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByLabel("Password").first().waitFor();
  assert.equal(page.url(), `${server.origin}/`);
  // No provider of logins, so there is nothing to leave there; and nothing has failed.
  assert.equal(await page.getByText("You are logged out here").isVisible(), false);
  assert.equal(await page.locator("#message").textContent(), "");
  await page.goto(`${server.origin}/w/default/`);
  await page.getByLabel("Password").first().waitFor();
});

test("who leaves a workspace can leave the provider, too", { skip: whyNoProvider }, async (t) => {
  const folder = scratchFolder();
  // A port for the address that the provider has to know beforehand.
  const first = await serveHosted(t, { folder });
  await first.stop();
  const { port } = new URL(first.origin);
  const provider = [join(root, "tests/e2e/oidc_provider.mjs"), oidc];
  const callback = `${first.origin}/api/v1/login/oidc/callback`;
  const variables = { CLIENT_SECRET: SECRET };
  const said = /(http:\S+)\n/;
  const { found: issuer } = await startProgram(
    t,
    process.execPath,
    [...provider, callback],
    said,
    variables,
  );
  const secret = join(folder, "secret");
  writeFileSync(secret, `${SECRET}\n`, { mode: 0o600 });
  const words = ["--oidc-issuer", issuer, "--oidc-client", "gpufl", "--oidc-secret-file", secret];
  const server = await serveHosted(t, { folder, port, words: [...words, "--oidc-plain-http"] });
  admin(server.data, ["user", "add", "ada", "--email", "ada@example.org"]);

  const page = await openPage(await launch(t));
  // The provider's pages ask for a font elsewhere.
  await page.route(/^https:/, (route) => route.abort());
  const withProvider = page.getByRole("link", { name: /^Log in with/ });
  const workspace = page.getByRole("link", { name: "default" });
  const leaveBy = async (button) => {
    const from = page.url();
    await button.click();
    await page.waitForURL((url) => url.href !== from);
  };
  // The server takes over whom another program added within a moment.
  await until(async () => {
    await page.goto(`${server.origin}/`);
    await withProvider.click();
    for (;;) {
      const name = page.getByPlaceholder("Enter any login");
      const consent = page.getByRole("button", { name: "Continue" });
      const refused = page.getByText("no user here is linked");
      await name.or(consent).or(workspace).or(refused).first().waitFor();
      if (await workspace.isVisible()) return true;
      if (await refused.isVisible()) return false;
      if (await name.isVisible()) {
        await name.fill("ada");
        await page.getByPlaceholder("and password").fill("any");
        await leaveBy(page.getByRole("button", { name: "Sign-in" }));
      } else {
        await leaveBy(consent);
      }
    }
  });
  await workspace.click();
  await settled(page);
  await page.getByRole("button", { name: "Account of ada" }).click();
  await page.getByRole("button", { name: "Log out" }).click();
  const leave = page.getByRole("link", { name: /^Log out of/ });
  await leave.waitFor();
  assert.equal(page.url(), `${server.origin}/`);
  assert.ok(await withProvider.isVisible());
  assert.equal(await page.locator("#message").textContent(), "");
  assert.ok((await leave.evaluate((link) => link.href)).startsWith(`${issuer}/session/end?`));
  // From there, a login asks who one is; without it, it would not.
  await leave.click();
  await page.getByRole("button", { name: /^Yes, sign me out/ }).click();
  await page.goto(`${server.origin}/`);
  await withProvider.click();
  await page.getByPlaceholder("Enter any login").waitFor();
});
