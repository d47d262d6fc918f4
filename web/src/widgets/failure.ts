// SPDX-License-Identifier: Apache-2.0
// What to say, and do, where a part of the dashboard itself fails.
import { Problem } from "../api/client";

export interface Failure {
  problem: Problem;
  action: "Retry" | "Reload";
}

// As Chromium, Firefox and Safari say it.
const NOT_LOADED =
  /dynamically imported module|importing a module script|preload CSS|module script failed/i;

// `what`: "page" or "panel". What was not loaded once is not asked for again until the page is.
export function failureOf(error: unknown, what: string): Failure {
  const detail = error instanceof Error ? error.message : String(error);
  if (NOT_LOADED.test(detail)) {
    const why = "The server does not answer, or it is a newer version since this page was opened.";
    return { problem: new Problem(-2, `This ${what} could not be loaded`, why), action: "Reload" };
  }
  return { problem: new Problem(-1, `This ${what} failed`, detail), action: "Retry" };
}
