// SPDX-License-Identifier: Apache-2.0
// The page of a timeline in a browser that knows nothing yet.
export const VIEWPORT = { width: 1600, height: 900 };

// Runs in the page before its own scripts.
function watchFrames() {
  const seen = { drawnMs: null, frames: null, copied: null };
  window.benchSeen = seen;
  const look = () => {
    const timeline = document.querySelector(".tl[aria-busy=false]");
    if (!timeline) return;
    observer.disconnect();
    // The frame that it was drawn in is over when the next one begins.
    requestAnimationFrame((now) => (seen.drawnMs = now));
  };
  const observer = new MutationObserver(look);
  observer.observe(document, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ["aria-busy"],
  });
  let last = 0;
  const tick = (now) => {
    if (seen.frames && last !== 0) seen.frames.push(now - last);
    last = seen.frames ? now : 0;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  // What a click on a value copies, in full.
  navigator.clipboard.writeText = (text) => {
    seen.copied = text;
    return Promise.resolve();
  };
}

export async function openContext(browser) {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: "no-preference" });
  await context.addInitScript(watchFrames);
  return context;
}

export const drawn = (page) =>
  page
    .waitForFunction(() => window.benchSeen.drawnMs, null, { timeout: 120_000 })
    .then((handle) => handle.jsonValue());

// Names of tracks in view of which the canvas shows nothing.
export const blankTracks = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector(".tl canvas");
    const box = canvas.getBoundingClientRect();
    const scale = canvas.width / box.width;
    const context = canvas.getContext("2d");
    return [...document.querySelectorAll(".tl-label.tl-track, .tl-label.tl-series")]
      .filter((label) => {
        const { top, bottom } = label.getBoundingClientRect();
        if (bottom > box.bottom) return false;
        const y = Math.round((top - box.top) * scale);
        const height = Math.floor((bottom - top) * scale);
        const { data } = context.getImageData(0, y, canvas.width, height);
        const colors = new Set(new Uint32Array(data.buffer));
        return colors.size < 3;
      })
      .map((label) => label.textContent);
  });

// Shows a view with nothing selected, when the page has settled on it; where its plot is.
export async function showView(page, address) {
  return page.evaluate(async (hash) => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    document.querySelector(".tlp-card .tlp-close")?.click();
    while (document.querySelector(".tlp-card")) await frame();
    window.location.hash = hash;
    await frame();
    await frame();
    const { left, top, width } = document.querySelector(".tl-plot").getBoundingClientRect();
    const track = document.querySelector(".tl-label.tl-track")?.getBoundingClientRect();
    return { left, top, width, trackTop: track?.top };
  }, address);
}
