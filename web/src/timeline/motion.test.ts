// SPDX-License-Identifier: Apache-2.0
import { expect, it, vi } from "vitest";
import { Motion } from "./motion";

vi.stubGlobal("matchMedia", () => ({ matches: true }));

it("goes where there is something to see, or when more is to come", () => {
  const motion = new Motion();
  const [a, b, c] = [0, 10, 20].map((from) => ({ from, to: from + 10 })) as [
    { from: number; to: number },
    { from: number; to: number },
    { from: number; to: number },
  ];
  motion.set(a);
  motion.prepare(b);
  expect([motion.view, motion.wanted]).toEqual([a, b]);
  motion.prepare(c);
  expect([motion.view, motion.wanted]).toEqual([b, c]);
  motion.arrive();
  expect([motion.view, motion.wanted]).toEqual([c, c]);
  motion.prepare(b);
  motion.set(a);
  motion.arrive();
  expect(motion.view).toEqual(a);
});
