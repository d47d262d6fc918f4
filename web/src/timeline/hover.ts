// SPDX-License-Identifier: Apache-2.0
// What is under the pointer: the moment on the ruler, the event, its tooltip.
import { exactTime } from "../base/format";
import type { TimelineDom } from "./dom";
import type { Hit } from "./hit";
import { tipOf, Tooltip } from "./tooltip";
import type { EventRef } from "./types";

export interface Point {
  x: number;
  y: number;
}

export class Hover {
  readonly tip = new Tooltip();
  point: Point | null = null;
  event: EventRef | null = null;

  // `reading`: the value of a series there.
  look(dom: TimelineDom, at: Point, time: number, hit: Hit | null, reading: string | null): void {
    const { clientWidth: width, clientHeight: height } = dom.plot;
    dom.showMoment(at.x, exactTime(Math.round(time)), width);
    this.event = hit?.kind === "event" ? hit.event : null;
    dom.plot.classList.toggle("over-event", this.event !== null);
    const tip = hit && tipOf(hit, reading);
    if (tip) this.tip.show(tip, at.x, at.y, width, height);
    else this.tip.hide();
  }

  leave(dom: TimelineDom): void {
    this.point = null;
    this.event = null;
    this.tip.hide();
    dom.hideMoment();
  }
}
