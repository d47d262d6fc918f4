// SPDX-License-Identifier: Apache-2.0
// Links to sessions, as the server of a workspace has them, and what a guest's link has in it.
import { isGuest, place } from "../base/place";
import { type Loaded, useApi } from "./hooks";
import type { Path } from "./paths";

export interface Sharing {
  is_on: boolean;
  may_change: boolean;
}

// What of the session a link shows besides its figures.
export interface Contents {
  source: boolean;
  command: boolean;
  files: boolean;
}

export interface Shared extends Contents {
  session: string;
  expires: string;
}

export interface Share extends Shared {
  id: string;
  made_by: string;
  created: string;
  last_used: string | null;
  counts: boolean;
}

export interface NewShare {
  id: string;
  link: string;
  expires: string;
}

export const SHARING = "/sharing" as Path<Sharing>;
export const SHARES = "/shares" as Path<{ shares: Share[] }>;
const SHARED = "/shared" as Path<Shared>;

// Where nobody logs in, nobody is asked.
export function useSharing(): Loaded<Sharing> {
  return useApi(SHARING, {}, { enabled: place === "workspace" });
}

// Of the guest who looks at the page; nothing where the one who looks is none.
export function useShared(): Loaded<Shared> {
  return useApi(SHARED, {}, { enabled: isGuest });
}

// Whether whoever looks may have the files of the log.
export function useMayHaveFiles(): boolean {
  const shared = useShared().data;
  return !isGuest || shared?.files === true;
}

export const BOXES: { name: keyof Contents; title: string; what: string }[] = [
  { name: "source", title: "Source text", what: "lines of the program's code, and PTX" },
  {
    name: "command",
    title: "Command line",
    what: "and the names of the process, its host and its folders",
  },
  {
    name: "files",
    title: "Files of the log",
    what: "to download as they are or as an export: they contain all of the above",
  },
];

// What is ticked, with what goes along with it: files have the rest in them.
export function withImplied(ticked: Contents): Contents {
  return ticked.files ? { source: true, command: true, files: true } : ticked;
}

export function contentsText(of: Contents): string {
  const parts = BOXES.filter(({ name }) => of[name]).map(({ title }) => title.toLowerCase());
  return parts.length === 0 ? "figures only" : `with ${parts.join(", ")}`;
}

export const LIFETIMES = [
  { hours: 1, title: "an hour" },
  { hours: 24, title: "a day" },
  { hours: 7 * 24, title: "a week" },
  { hours: 30 * 24, title: "30 days" },
  { hours: 90 * 24, title: "90 days" },
];
