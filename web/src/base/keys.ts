// SPDX-License-Identifier: Apache-2.0
// Keys of the pages. One list: what works now is what the help shows.
import { useEffect } from "react";

export interface KeyAction {
  // As KeyboardEvent.key; "g k" is one after the other, "Mod+k" with Control or Command, and
  // "Shift+ArrowUp" with Shift.
  keys: string;
  what: string;
  run: () => void;
}

const actions = new Set<KeyAction>();
let pending: string | null = null;
let pendingTimer = 0;

export function activeKeys(): KeyAction[] {
  return [...actions];
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !/^(checkbox|radio|button)$/.test(target.type);
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

// What keys do is not changed by Caps Lock.
export function keyOf(event: Pick<KeyboardEvent, "key" | "shiftKey" | "getModifierState">): string {
  const { key } = event;
  if (key.length !== 1 || !event.getModifierState("CapsLock")) return key;
  return event.shiftKey ? key.toUpperCase() : key.toLowerCase();
}

function pressed(event: KeyboardEvent): string {
  const isMod = event.ctrlKey || event.metaKey;
  if (isMod) return `Mod+${keyOf(event)}`;
  // Letters are other letters with Shift already.
  return event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : keyOf(event);
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) return;
  const key = pressed(event);
  if (isTyping(event.target) && !key.startsWith("Mod+") && key !== "Escape") return;
  const both = pending === null ? null : `${pending} ${key}`;
  pending = null;
  clearTimeout(pendingTimer);
  // The latest that was added wins: it is of what lies on top.
  const all = [...actions].reverse();
  const found = all.find(({ keys }) => keys === both) ?? all.find(({ keys }) => keys === key);
  if (found) {
    event.preventDefault();
    found.run();
  } else if (all.some(({ keys }) => keys.startsWith(`${key} `))) {
    pending = key;
    pendingTimer = window.setTimeout(() => (pending = null), 1000);
  }
}

export function listenForKeys(): void {
  window.addEventListener("keydown", onKeyDown);
}

export function useKeys(list: KeyAction[]): void {
  useEffect(() => {
    for (const action of list) actions.add(action);
    return () => {
      for (const action of list) actions.delete(action);
    };
  });
}
