#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboard's files as gpufl serve gives them: what a browser may load, keep and run.

Ends with code 77, a visible skip, where the program lacks the dashboard although it was not built without it on
purpose: --without-dashboard says that it was.
"""

import contextlib
import gzip
import html.parser
import os
import pathlib
import re
import sys
import unittest

from served import SESSIONS, ServeTest

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
          "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")  # fmt: skip
TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml"}
GZIP = {"Accept-Encoding": "gzip, deflate, br, zstd"}


class Page(html.parser.HTMLParser):
    """What a page loads, and what it must not have."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.inline = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.loads += [attributes[name] for name in ("src", "href") if name in attributes]
        if tag == "style" or (tag == "script" and "src" not in attributes):
            self.inline.append(tag)
        self.inline += [name for name in attributes if name.startswith("on") or name == "style"]


class Dashboard(ServeTest):
    def setUp(self):
        super().setUp()
        self.served = self.start(SESSIONS)

    def get(self, path, **options):
        """As a browser without a token."""
        return self.served.send(path, has_token=False, **options)

    def assets(self):
        """Those that the page names, and those that they load later."""
        found = set(Page(self.get("/").body.decode()).loads)
        for path in list(found):
            if path.endswith(".js"):
                text = self.get(f"/{path.removeprefix('./')}").body.decode()
                found |= {f"./assets/{name}" for name in re.findall(r"[\"'`/]([\w-]+-[\w-]{8}\.(?:js|css))[\"'`]", text)}
        return sorted(path.removeprefix("./") for path in found)

    def test_the_page_runs_nothing_that_is_not_a_file(self):
        answer = self.get("/")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["content-type"], "text/html; charset=utf-8")
        self.assertEqual(answer.headers["content-security-policy"], POLICY)
        self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
        self.assertEqual(answer.headers["referrer-policy"], "no-referrer")
        page = Page(answer.body.decode())
        self.assertEqual(page.inline, [])
        self.assertTrue([path for path in page.loads if path.endswith(".js")], page.loads)
        # Relative, so that a prefix stays in place.
        for path in page.loads:
            self.assertTrue(path.startswith("./assets/"), path)

    def test_every_asset_is_there_for_good(self):
        assets = self.assets()
        self.assertGreater(len(assets), 8)
        for path in assets:
            with self.subTest(path=path):
                answer = self.get(f"/{path}")
                self.assertEqual(answer.status, 200)
                self.assertEqual(answer.headers["content-type"], TYPES[path.rsplit(".", 1)[1]])
                self.assertEqual(answer.headers["cache-control"], "public, max-age=31536000, immutable")
                self.assertEqual(answer.headers["cross-origin-resource-policy"], "same-origin")

    def test_bytes_are_those_of_every_encoding(self):
        script = next(path for path in self.assets() if path.endswith(".js"))
        for path in ("/", f"/{script}"):
            plain = self.get(path)
            self.assertNotIn("content-encoding", plain.headers)
            packed = self.get(path, headers=GZIP)
            self.assertEqual(packed.headers["content-encoding"], "gzip")
            self.assertEqual(packed.headers["vary"], "Accept-Encoding")
            self.assertEqual(gzip.decompress(packed.body), plain.body)
            self.assertLess(len(packed.body), len(plain.body))
            refused = self.get(path, headers={"Accept-Encoding": "gzip;q=0"})
            self.assertEqual(refused.body, plain.body)

    def test_head_says_what_get_would(self):
        for headers in ({}, GZIP):
            get, head = (self.get("/", headers=headers, method=method) for method in ("GET", "HEAD"))
            self.assertEqual(head.body, b"")
            for name in ("content-type", "content-length", "etag", "content-security-policy", "cache-control"):
                self.assertEqual(head.headers[name], get.headers[name], name)

    def test_the_page_is_asked_for_again_and_not_sent_again(self):
        first = self.get("/")
        self.assertEqual(first.headers["cache-control"], "no-cache")
        for headers in ({}, GZIP):
            again = self.get("/", headers={"If-None-Match": first.headers["etag"], **headers})
            self.assertEqual((again.status, again.body), (304, b""))
            self.assertEqual(again.headers["content-security-policy"], POLICY)
            self.assertNotIn("content-encoding", again.headers)
        self.assertEqual(self.get("/", headers={"If-None-Match": '"other"'}).status, 200)

    def test_other_files_are_not_there(self):
        for path in ("/assets/none.js", "/assets/index.html", "/assets/..%2findex.html", "/assets/%00"):
            answer = self.get(path)
            self.assertIn(answer.status, (400, 404), path)
            self.assertEqual(answer.headers["content-type"], "application/problem+json")
        for path in ("/index.html", "/assets", "/assets/a/b"):
            self.assertEqual(self.get(path).status, 401, path)
        self.assertEqual(self.served.send("/assets/none.js", method="POST").status, 405)

    def test_a_prefix_stays_in_place(self):
        # What is printed names the proxy; the port is that of the socket that the process listens on.
        served = self.start(SESSIONS, "--public-url", "http://gpu.example.org/tools/gpufl")
        served.port = listening_port(served.process.pid)

        def get(path):
            return served.send(path, headers={"Host": "gpu.example.org"}, has_token=False)

        bare = get("/tools/gpufl")
        self.assertEqual((bare.status, bare.headers["location"]), (308, "/tools/gpufl/"))
        for base in ("/tools/gpufl/", "/"):
            page = get(base)
            self.assertEqual(page.status, 200)
            for path in Page(page.body.decode()).loads:
                self.assertEqual(get(base + path.removeprefix("./")).status, 200, path)


class WithoutDashboard(ServeTest):
    def test_it_says_so_and_offers_the_rest(self):
        served = self.start(SESSIONS)
        page = served.send("/", has_token=False)
        self.assertEqual(page.status, 200)
        self.assertNotIn(b'id="root"', page.body)
        self.assertIn("api/v1/sessions", page.body.decode())
        self.assertEqual(served.send("/assets/index.js", has_token=False).status, 404)
        self.assertEqual(served.send("/api/v1/sessions").status, 200)
        self.assertEqual(served.send("/api/v1/sessions", has_token=False).status, 401)


def listening_port(pid):
    sockets = set()
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed since it was listed
            sockets.add(os.readlink(fd))
    for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:  # it listens
            return int(words[1].split(":")[1], 16)
    raise AssertionError("the server listens on no port")


def has_dashboard():
    found = []

    class Look(ServeTest):
        def runTest(self):
            found.append(b'id="root"' in self.start(SESSIONS).send("/", has_token=False).body)

    unittest.TextTestRunner(stream=open("/dev/null", "w")).run(Look())
    return found == [True]


if __name__ == "__main__":
    is_meant = sys.argv[1:] == ["--without-dashboard"]
    if is_meant or not has_dashboard():
        program = unittest.main(argv=[sys.argv[0], "WithoutDashboard"], exit=False)
        if is_meant or not program.result.wasSuccessful():
            sys.exit(not program.result.wasSuccessful())
        print("skipped: the program was built without the dashboard; './dev setup web' installs what it needs")
        sys.exit(77)
    del WithoutDashboard
    unittest.main()
