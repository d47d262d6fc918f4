# SPDX-License-Identifier: Apache-2.0
"""speedscope's own viewer, in Chromium, opens what export_sample writes and shows its profile."""

import base64
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VIEWER = ROOT / ".deps/pages/node_modules/speedscope/dist/release/index.html"
EXPECTED = "rank 0: train (pid 4711): GPU time by scope"


def skip(reason):
    print(f"skipped: {reason}; './dev setup pages' installs it")
    sys.exit(77)


def viewed(chromium, profile, folder):
    """The viewer's page after it has loaded the profile, as HTML."""
    # How the viewer takes files that lie on disk: a script that hands it the bytes.
    script = folder / "profile.js"
    data = base64.b64encode(profile.read_bytes()).decode()
    script.write_text(f"speedscope.loadFileFromBase64('{profile.name}', '{data}')")
    page = f"{VIEWER.as_uri()}#localProfilePath={script}"
    command = [chromium, "--headless=new", "--no-sandbox", "--allow-file-access-from-files"]
    command += ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    command += [f"--user-data-dir={folder / 'browser'}", "--virtual-time-budget=20000"]
    result = subprocess.run(
        [*command, "--dump-dom", page], capture_output=True, text=True, timeout=100, check=True
    )
    return result.stdout


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        skip("no Chromium")
    if not VIEWER.exists():
        skip("no speedscope")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.argv[1], folder], check=True)
        html = viewed(chromium, folder / "sample.speedscope.json", folder)
        assert EXPECTED in html, f"the viewer does not show {EXPECTED!r}:\n{html[-3000:]}"
        broken = folder / "broken.speedscope.json"
        broken.write_text("{}")
        assert EXPECTED not in viewed(chromium, broken, folder), "it shows what is not there"


if __name__ == "__main__":
    main()
