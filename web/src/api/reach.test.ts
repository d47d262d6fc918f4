// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ask } from "./client";
import { pathOf } from "./paths";
import { look, onReach, serverIsGone } from "./reach";

let isUp = true;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", () =>
    isUp ? Promise.resolve(new Response("{}")) : Promise.reject(new TypeError("refused")),
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("knows from any request, and asks again until there is an answer", async () => {
  let told = 0;
  const stop = onReach(() => ++told);
  await ask(pathOf("/sessions"));
  expect([serverIsGone(), told]).toEqual([false, 0]);
  isUp = false;
  await ask(pathOf("/sessions")).catch(() => undefined);
  expect([serverIsGone(), told]).toEqual([true, 1]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([serverIsGone(), told]).toEqual([true, 1]);
  isUp = true;
  await vi.advanceTimersByTimeAsync(2100);
  expect([serverIsGone(), told]).toEqual([false, 2]);
  expect(vi.getTimerCount()).toBe(0);
  stop();
});

it("finds out where nothing is asked for", async () => {
  isUp = false;
  await look();
  expect(serverIsGone()).toBe(true);
  isUp = true;
  await look();
  expect(serverIsGone()).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});
