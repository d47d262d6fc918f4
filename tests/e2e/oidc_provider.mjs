// SPDX-License-Identifier: Apache-2.0
// A provider of logins for oidc_test.py, on loopback: npm's oidc-provider, in which every account exists and
// whoever logs in says by which name. Its first argument is the folder of the package, the second the address to
// which it may lead back. Prints its issuer.
import { createRequire } from "node:module";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [folder, redirect] = process.argv.slice(2);
const entry = createRequire(folder + "/").resolve("oidc-provider");
const { default: Provider } = await import(pathToFileURL(entry));

const server = createServer();
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "gpufl",
      client_secret: process.env.CLIENT_SECRET,
      redirect_uris: [redirect],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["preferred_username"] },
  pkce: { required: () => true },
  cookies: { keys: ["for tests"] },
  features: { devInteractions: { enabled: true } },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      email: `${id}@example.org`,
      email_verified: !id.startsWith("unverified"),
      preferred_username: id,
    }),
  }),
});
server.on("request", provider.callback());
console.log(issuer);
