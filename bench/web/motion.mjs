// SPDX-License-Identifier: Apache-2.0
// Frames while somebody zooms in and out at several places and drags the timeline about.
import { median } from "./figures.mjs";
import { drawn, openContext, VIEWPORT } from "./page.mjs";

const PLACES = [0.35, 0.6, 0.8];
const STEPS = 45;

async function zoom(page, x, y, delta) {
  await page.mouse.move(x, y);
  await page.keyboard.down("Control");
  for (let i = 0; i < STEPS; ++i) await page.mouse.wheel(0, delta);
  await page.keyboard.up("Control");
}

async function drag(page, fromX, toX, y) {
  await page.mouse.move(fromX, y);
  await page.mouse.down();
  await page.mouse.move(toX, y + 30, { steps: STEPS });
  await page.mouse.up();
}

export async function measureMotion(browser, server, session, figures) {
  const context = await openContext(browser);
  try {
    const page = await context.newPage();
    await page.goto(server.at(`/s/${session}/timeline`));
    await drawn(page);
    const y = VIEWPORT.height / 2;
    await page.evaluate(() => (window.benchSeen.frames = []));
    for (const place of PLACES) {
      const x = VIEWPORT.width * place;
      await zoom(page, x, y, -120);
      await drag(page, x, x - 500, y);
      await zoom(page, x, y, -60);
      await drag(page, x - 500, x, y);
      await zoom(page, x, y, 180);
    }
    const frames = await page.evaluate(() => window.benchSeen.frames);
    const late = frames.filter((ms) => ms > 50).length;
    figures.addOne("frame while moving, median", median(frames), "ms", 20);
    figures.addOne("frames over 50 ms", (100 * late) / frames.length, "%", 3);
    figures.addOne("frames measured", frames.length, "frames");
  } finally {
    await context.close();
  }
}
