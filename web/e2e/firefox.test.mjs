// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { launchFirefox, whyNoFirefox } from "./firefox.mjs";
import { examples, serve, TORCH } from "./harness.mjs";

test("Firefox: from the overview to the timeline", { skip: whyNoFirefox }, async (t) => {
  const server = await serve(t, examples);
  const firefox = await launchFirefox(t);
  await firefox.open(server.at(`/s/${TORCH}`));
  await firefox.until(`document.body.innerText.includes("What to do first")`);
  assert.equal(await firefox.evaluate("location.search"), "");
  await firefox.press("g", "t");
  await firefox.until(`location.hash.endsWith("/timeline") && document.querySelector("canvas")`);
  // GPU work is there in colour, and not only the ground that it stands on.
  await firefox.until(`(() => {
    const canvas = document.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colors = new Set();
    for (let i = 0; i < data.length; i += 4) colors.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return colors.size > 20;
  })()`);
  const before = await firefox.evaluate("location.hash");
  await firefox.evaluate(`document.querySelector("canvas").focus()`);
  await firefox.press("w");
  await firefox.until(`location.hash !== ${JSON.stringify(before)}`);
});
