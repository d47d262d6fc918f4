// SPDX-License-Identifier: Apache-2.0
// What part of a session its figures are of, in words.
import type { Report } from "../api/types";
import { duration } from "../base/format";

export interface PartWords {
  title: string;
  text: string;
}

// None: they are of all of it, and of what there is now.
export function partWords(
  options: Pick<Report["options"], "window"> | undefined,
  isCurrent: boolean,
): PartWords[] {
  const words: PartWords[] = [];
  const window = options?.window ?? null;
  if (window !== null) {
    const { start_ns, end_ns } = window;
    words.push({
      title: `Only ${duration(start_ns)} to ${duration(end_ns)} is analysed.`,
      text:
        "The session needs more memory than `--analysis-memory` allows, so what follows is of its end. " +
        "The timeline, kernels by name and readings are of all of it.",
    });
  }
  if (!isCurrent) {
    words.push({
      title: "More has been recorded since.",
      text: "The session is being read again; the figures follow by themselves.",
    });
  }
  return words;
}
