#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves a folder and asks for the dashboard and for its sessions as a browser does: ./dev run --check."""

import argparse
import http.client
import re
import signal
import subprocess
import sys
import tempfile
import urllib.parse

PATIENCE_S = 60


def ask(url, path, headers=()):
    connection = http.client.HTTPConnection("127.0.0.1", url.port, timeout=PATIENCE_S)
    try:
        connection.request("GET", path, headers=dict(headers))
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def check(url):
    """What is wrong; None: nothing."""
    answer, _ = ask(url, f"/?{url.query}")
    if answer.status != 303:
        return f"the printed address answers {answer.status}"
    cookie = answer.getheader("Set-Cookie").split(";")[0]
    answer, page = ask(url, "/")
    scripts = re.findall(rb'src="\./(assets/[^"]+)"', page)
    if answer.status != 200 or not scripts:
        return "the page is not the dashboard: this program was built without it, because npm was not there"
    for path in ["/" + script.decode() for script in scripts]:
        if ask(url, path)[0].status != 200:
            return f"{path} is missing"
    answer, sessions = ask(url, "/api/v1/sessions", {"Cookie": cookie})
    if answer.status != 200 or b'"id"' not in sessions:
        return f"the API answers {answer.status}: {sessions[:200]!r}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gpufl")
    parser.add_argument("folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpufl-check-") as cache:
        server = subprocess.Popen(
            [options.gpufl, "serve", options.folder, "--listen", "127.0.0.1:0", "--cache", cache],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            found = re.search(r"http://\S+", server.stdout.readline())
            wrong = check(urllib.parse.urlsplit(found.group())) if found else "the server does not start"
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=PATIENCE_S)
    if wrong:
        sys.exit(f"dashboard: {wrong}")
    print("The dashboard and its API answer.")


if __name__ == "__main__":
    main()
