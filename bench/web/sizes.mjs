// SPDX-License-Identifier: Apache-2.0
// Scripts as the server sends them: those that the first page loads, and all that there are.
import { openContext } from "./page.mjs";

// Every script that one names, and those that they name.
async function allScripts(server, names) {
  const sizes = new Map();
  const waiting = [...names];
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (sizes.has(name)) continue;
    const answer = await fetch(`${server.origin}/assets/${name}`, {
      headers: { Authorization: `Bearer ${server.token}` },
    });
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    const text = await answer.text();
    sizes.set(name, Number(answer.headers.get("content-length")));
    waiting.push(...Array.from(text.matchAll(/\w+-[\w-]{8}\.js\b/g), ([found]) => found));
  }
  return sizes;
}

export async function measureSizes(browser, server, figures) {
  const context = await openContext(browser);
  try {
    const page = await context.newPage();
    await page.goto(server.at("/sessions"));
    await page.locator("main, .data-table, .empty").first().waitFor();
    const loaded = await page.evaluate(() =>
      performance
        .getEntriesByType("resource")
        .filter(({ name }) => name.endsWith(".js"))
        .map(({ name, encodedBodySize }) => [name.split("/").at(-1), encodedBodySize]),
    );
    const first = loaded.reduce((sum, [, bytes]) => sum + bytes, 0);
    const sizes = await allScripts(
      server,
      loaded.map(([name]) => name),
    );
    const all = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
    figures.addOne("scripts of the first page, compressed", first / 1000, "kB", 180);
    figures.addOne("all scripts, compressed", all / 1000, "kB", 400);
  } finally {
    await context.close();
  }
}
