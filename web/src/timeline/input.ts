// SPDX-License-Identifier: Apache-2.0
// Wheel and pointer, as in Perfetto: the wheel scrolls, with Control it zooms at the pointer;
// dragging moves, dragging on the ruler or with Shift selects a range, pressing the ruler puts the
// cursor there.
import { RULER_PX } from "./draw_frame";

export interface InputTarget {
  // Points are pixels of the page from the plot's corner.
  zoomAt(x: number, factor: number): void;
  panBy(dx: number, dy: number): void;
  // False: there is nothing to scroll that way.
  scrollBy(dy: number): boolean;
  hover(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number): void;
  doubleClick(x: number, y: number): void;
  chooseRange(fromX: number, toX: number): void;
  pressRuler(x: number): void;
}

const CLICK_PX = 3;
const LINE_PX = 16;
const ZOOM_PER_PX = 0.0025;

function pixelsOf(event: WheelEvent, delta: number): number {
  return event.deltaMode === WheelEvent.DOM_DELTA_LINE ? delta * LINE_PX : delta;
}

export function listen(plot: HTMLElement, target: InputTarget, signal: AbortSignal): void {
  let drag: {
    kind: "pan" | "choose";
    x: number;
    y: number;
    startX: number;
    isMoved: boolean;
  } | null = null;
  const point = (event: MouseEvent): [number, number] => {
    const box = plot.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const on = <Name extends keyof HTMLElementEventMap>(
    name: Name,
    handler: (event: HTMLElementEventMap[Name]) => void,
  ) => plot.addEventListener(name, handler, { signal, passive: false });

  on("wheel", (event) => {
    const [x, y] = point(event);
    const dx = pixelsOf(event, event.deltaX);
    const dy = pixelsOf(event, event.deltaY);
    if (event.ctrlKey || event.metaKey || y < RULER_PX) {
      event.preventDefault();
      target.zoomAt(x, Math.exp(dy * ZOOM_PER_PX));
    } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
      event.preventDefault();
      target.panBy(-(dx || dy), 0);
    } else if (target.scrollBy(dy)) {
      event.preventDefault();
    }
  });
  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = point(event);
    const kind = event.shiftKey || y < RULER_PX ? "choose" : "pan";
    drag = { kind, x, y, startX: x, isMoved: false };
    plot.setPointerCapture(event.pointerId);
  });
  on("pointermove", (event) => {
    const [x, y] = point(event);
    plot.classList.toggle("over-ruler", y < RULER_PX);
    if (!drag) {
      target.hover(x, y);
      return;
    }
    const distance = Math.hypot(x - drag.x, y - drag.y);
    if (!drag.isMoved && distance < CLICK_PX) return;
    if (!drag.isMoved) {
      target.leave();
      plot.classList.add(drag.kind === "pan" ? "panning" : "choosing");
    }
    drag.isMoved = true;
    if (drag.kind === "choose") {
      target.chooseRange(drag.startX, x);
    } else {
      target.panBy(x - drag.x, y - drag.y);
      drag.x = x;
      drag.y = y;
    }
  });
  const end = (event: PointerEvent, isDone: boolean) => {
    const last = drag;
    drag = null;
    plot.classList.remove("panning", "choosing");
    if (!last || last.isMoved || !isDone) return;
    const [x, y] = point(event);
    if (y >= RULER_PX) target.click(x, y);
    else target.pressRuler(x);
  };
  on("pointerup", (event) => end(event, true));
  on("pointercancel", (event) => end(event, false));
  on("pointerleave", () => {
    if (!drag) target.leave();
  });
  on("dblclick", (event) => target.doubleClick(...point(event)));
}
