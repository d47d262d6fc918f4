// SPDX-License-Identifier: Apache-2.0
// Whose pages these are, which their address tells: of a folder that somebody looks at alone, of a
// workspace whose people have logged in, or of guests who came by a link to one session.
export type Place = "folder" | "workspace" | "link";

export function placeOf(path: string): Place {
  if (/\/shared\/[0-9a-f]+\/$/.test(path)) return "link";
  return /\/w\/[^/]+\/$/.test(path) ? "workspace" : "folder";
}

// Tests have no window.
export const path = typeof window === "undefined" ? "/" : window.location.pathname;
export const place = placeOf(path);
export const isGuest = place === "link";
