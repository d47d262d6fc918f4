// SPDX-License-Identifier: Apache-2.0
// What a key is called in lists of keys. Pure.

export interface Key {
  key: string;
  shiftKey: boolean;
}

// "Shift+ArrowRight". With Shift letters are capital letters, with Caps Lock they are what they were.
export function keyName({ key, shiftKey }: Key): string {
  if (shiftKey && key.startsWith("Arrow")) return `Shift+${key}`;
  if (!/^\p{L}$/u.test(key)) return key;
  return shiftKey ? key.toUpperCase() : key.toLowerCase();
}
