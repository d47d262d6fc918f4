// SPDX-License-Identifier: Apache-2.0
// Whose pages these are, which their address tells: of a folder that somebody looks at alone, of a
// workspace whose people have logged in, or of guests who came by a link to one session.
export type Place = "folder" | "workspace" | "link";

export function placeOf(path: string): Place {
  if (/\/shared\/[0-9a-f]+\/$/.test(path)) return "link";
  return /\/w\/[^/]+\/$/.test(path) ? "workspace" : "folder";
}

// The name of the workspace that a page is of; empty: it is of none.
export function workspaceOf(path: string): string {
  return decodeURIComponent(/\/w\/([^/]+)\/$/.exec(path)?.[1] ?? "");
}

// Tests have no window.
export const path = typeof window === "undefined" ? "/" : window.location.pathname;
export const place = placeOf(path);
export const workspace = workspaceOf(path);
// From a page of a workspace, the page with the list of them.
export const SERVER_PAGE = "../../";
// The same once one has logged out: it offers to leave the provider of logins, too.
export const LOGGED_OUT_PAGE = `${SERVER_PAGE}#login=out`;
export const isGuest = place === "link";
