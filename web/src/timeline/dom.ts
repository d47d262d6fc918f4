// SPDX-License-Identifier: Apache-2.0
// The elements of a timeline: names of tracks at the left, a canvas, and what floats above it.

export interface TimelineDom {
  root: HTMLElement;
  plot: HTMLElement;
  canvas: HTMLCanvasElement;
  // Says to screen readers what is selected.
  live: HTMLElement;
  showMoment: (x: number, text: string, width: number) => void;
  hideMoment: () => void;
  showScroll: (top: number, height: number, room: number, offset: number) => void;
}

function make(className: string): HTMLElement {
  const element = document.createElement("div");
  element.className = className;
  return element;
}

const LEAST_THUMB_PX = 24;

// `onScroll`: 0 is the top, 1 the bottom.
export function makeDom(
  container: HTMLElement,
  labels: HTMLElement,
  tip: HTMLElement,
  onScroll: (share: number) => void,
): TimelineDom {
  const root = make("tl");
  const plot = make("tl-plot");
  const canvas = document.createElement("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", "Timeline");
  const live = make("tl-live");
  live.setAttribute("aria-live", "polite");
  const cursor = make("tl-cursor");
  const moment = make("tl-moment");
  const thumb = make("tl-scrollbar");
  for (const element of [cursor, moment, thumb]) {
    element.hidden = true;
    element.setAttribute("aria-hidden", "true");
  }
  tip.setAttribute("aria-hidden", "true");
  plot.append(canvas, cursor, moment, tip, thumb);
  root.append(labels, plot, live);
  container.append(root);

  let travel = 1;
  let thumbTop = 0;
  let drag: { y: number; top: number } | null = null;
  let first = 0;
  thumb.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    drag = { y: event.clientY, top: thumbTop };
    thumb.setPointerCapture(event.pointerId);
  });
  thumb.addEventListener("pointermove", (event) => {
    event.stopPropagation();
    if (drag) onScroll((drag.top - first + event.clientY - drag.y) / travel);
  });
  thumb.addEventListener("pointerup", () => (drag = null));

  return {
    root,
    plot,
    canvas,
    live,
    showMoment: (x, text, width) => {
      cursor.hidden = moment.hidden = false;
      cursor.style.transform = `translateX(${Math.round(x)}px)`;
      moment.textContent = text;
      const left = x + 4 + moment.offsetWidth > width ? x - 4 - moment.offsetWidth : x + 4;
      moment.style.transform = `translateX(${Math.round(left)}px)`;
    },
    hideMoment: () => {
      cursor.hidden = moment.hidden = true;
    },
    showScroll: (top, height, room, offset) => {
      thumb.hidden = height <= room;
      const length = Math.max(LEAST_THUMB_PX, (room * room) / height);
      travel = Math.max(1, room - length);
      first = offset;
      thumbTop = offset + (travel * top) / Math.max(1, height - room);
      thumb.style.height = `${length}px`;
      thumb.style.transform = `translateY(${thumbTop}px)`;
    },
  };
}
