// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { failureOf } from "./failure";

it("asks to reload where a part of the dashboard was not loaded", () => {
  for (const text of [
    "Failed to fetch dynamically imported module: http://h/assets/a.js",
    "error loading dynamically imported module: http://h/assets/a.js",
    "Importing a module script failed.",
    "Unable to preload CSS for /assets/a.css",
  ]) {
    const { problem, action } = failureOf(new TypeError(text), "page");
    expect([problem.title, action]).toEqual(["This page could not be loaded", "Reload"]);
  }
});

it("says what went wrong elsewhere, and tries again", () => {
  const { problem, action } = failureOf(new TypeError("x is undefined"), "panel");
  expect([problem.title, problem.detail, action]).toEqual([
    "This panel failed",
    "x is undefined",
    "Retry",
  ]);
});
