// SPDX-License-Identifier: Apache-2.0
// Whether the server answers. A page that has all it shows asks nothing, so somebody has to find out.
import { useSyncExternalStore } from "react";

const AGAIN_MS = 2000;

let isGone = false;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

// Of any request: an answer is one, whatever it says.
export function noteAnswered(isAnswered: boolean): void {
  if (isGone !== isAnswered) return;
  isGone = !isAnswered;
  clearTimeout(timer);
  if (isGone) timer = setTimeout(look, AGAIN_MS);
  for (const listener of [...listeners]) listener();
}

// Asks what costs the server nothing, and again until there is an answer.
export async function look(): Promise<void> {
  clearTimeout(timer);
  const isAnswered = await fetch("./healthz", { cache: "no-store" }).then(
    () => true,
    () => false,
  );
  if (isGone && !isAnswered) timer = setTimeout(look, AGAIN_MS);
  noteAnswered(isAnswered);
}

export function serverIsGone(): boolean {
  return isGone;
}

export function onReach(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useServerIsGone(): boolean {
  return useSyncExternalStore(onReach, serverIsGone);
}
