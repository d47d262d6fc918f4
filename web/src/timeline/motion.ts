// SPDX-License-Identifier: Apache-2.0
// The view and where it is going: keys move it within a moment, the pointer at once.
import { between, type View } from "./view";

const MOVE_MS = 140;

export class Motion {
  view: View = { from: 0, to: 1e6 };
  // Where it goes once there is something to see there.
  private ahead: View | null = null;
  private move: { from: View; to: View; start: number } | null = null;
  private readonly isStill = matchMedia("(prefers-reduced-motion: reduce)");

  get isMoving(): boolean {
    return this.move !== null;
  }

  get target(): View {
    return this.move?.to ?? this.view;
  }

  get wanted(): View {
    return this.ahead ?? this.target;
  }

  prepare(view: View): void {
    // What does not come in time is not waited for.
    if (this.ahead) this.set(this.ahead);
    this.ahead = view;
  }

  arrive(): void {
    if (this.ahead) this.goTo(this.ahead);
  }

  set(view: View): void {
    this.ahead = null;
    this.move = null;
    this.view = view;
  }

  // At once for those who want no motion.
  goTo(view: View): void {
    this.ahead = null;
    if (this.isStill.matches) this.set(view);
    else this.move = { from: this.view, to: view, start: performance.now() };
  }

  advance(now: number): void {
    if (!this.move) return;
    const part = Math.min(Math.max((now - this.move.start) / MOVE_MS, 0), 1);
    this.view = between(this.move.from, this.move.to, 1 - Math.pow(1 - part, 3));
    if (part >= 1) this.move = null;
  }
}
