// SPDX-License-Identifier: Apache-2.0
// What to run for what a session lacks, as advice of the analysis has it.
import { type Place, place } from "./place";

const NEEDS_THE_FILES = /gpufl (symbolize|disassemble)/;

// A path as a shell takes it.
function quoted(path: string): string {
  return /^[\w./:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

// `folder`: of the session, where it lies on this machine. A server for others has no files of the
// programs whose sessions it was sent, and guests have neither.
export function remedyHere(how: string, folder = "", of: Place = place): string {
  if (of === "folder") return folder === "" ? how : how.replace("SESSION", quoted(folder));
  if (!NEEDS_THE_FILES.test(how)) return how;
  return of === "link"
    ? ""
    : `${how}. Run this where the program ran, and \`gpufl upload\` after it`;
}
