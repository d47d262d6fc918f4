// SPDX-License-Identifier: Apache-2.0
// Who has logged in to the server that the workspace of this page is on.
import { place, workspace } from "../base/place";
import { perform, Problem } from "./client";
import { type Loaded, useApi } from "./hooks";
import type { Path } from "./paths";

export interface Me {
  user: string;
  workspaces: { name: string; role: string }[];
}

// The server's own API lies beside its list of workspaces, and not below this one.
const OF_SERVER = "/../../../../api/v1";
const ME = `${OF_SERVER}/me` as Path<Me>;

// Where nobody logs in, nobody is asked.
export function useMe(): Loaded<Me> {
  return useApi(ME, {}, { enabled: place === "workspace" });
}

// In the workspace of this page.
export function roleOf(me: Me, of: string = workspace): string {
  return me.workspaces.find(({ name }) => name === of)?.role ?? "";
}

// Whoever is logged out already has what they want.
export async function logOut(): Promise<void> {
  try {
    await perform(`${OF_SERVER}/logout`);
  } catch (error) {
    if (!(error instanceof Problem && error.status === 401)) throw error;
  }
}
