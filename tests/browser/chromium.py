# SPDX-License-Identifier: Apache-2.0
"""A page in Chromium, as it is after its scripts ran."""

import re
import shutil
import subprocess

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE_S = 120


def opened(page, folder, *more):
    """(the page's HTML, what it complained of); the browser keeps its own files in `folder`."""
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--enable-logging=stderr"]
    command += [f"--user-data-dir={folder / 'browser'}", "--window-size=1440,1000", *more]
    ended = subprocess.run(
        [*command, "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return ended.stdout, [line for line in ended.stderr.splitlines() if "CONSOLE" in line]


def ready_ms(html):
    """How long a report took to draw itself; None where it did not."""
    ready = re.search(r'<html[^>]* data-ready="(\d+)"', html)
    return int(ready.group(1)) if ready else None
