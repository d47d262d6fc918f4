// SPDX-License-Identifier: Apache-2.0
// Requests to the server that the page came from. An answer is there, or is being computed.
import type { Path } from "./paths";
import { noteAnswered } from "./reach";

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly retryAfterS: number | null = null,
  ) {
    super(detail || title);
  }
}

export type Answer<T> =
  { state: "ready"; data: T; isCurrent: boolean } | { state: "running"; progress: number | null };

export type Parameters = Record<string, string | number | null | undefined>;

// Relative, so that a path prefix of a proxy stays in place.
export function apiUrl(path: string, parameters: Parameters = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) search.set(name, String(value));
  }
  const rest = search.toString();
  return `./api/v1${path}${rest === "" ? "" : `?${rest}`}`;
}

async function problemOf(response: Response): Promise<Problem> {
  let title = response.statusText || `Status ${response.status}`;
  let detail = "";
  try {
    const body = (await response.json()) as { title?: string; detail?: string };
    title = body.title ?? title;
    detail = body.detail ?? "";
  } catch {
    // A proxy's page, or nothing: the status says it.
  }
  const wait = Number(response.headers.get("Retry-After"));
  return new Problem(response.status, title, detail, wait > 0 ? wait : null);
}

export async function ask<T>(
  path: Path<T>,
  parameters: Parameters = {},
  signal?: AbortSignal,
): Promise<Answer<T>> {
  let response: Response;
  try {
    response = await fetch(apiUrl(path, parameters), { signal: signal ?? null });
  } catch (error) {
    if (signal?.aborted) throw error;
    noteAnswered(false);
    throw new Problem(0, "The server does not answer", "Is gpufl serve still running?");
  }
  noteAnswered(true);
  if (response.status === 202) {
    const body = (await response.json()) as { progress?: number | null };
    return { state: "running", progress: body.progress ?? null };
  }
  if (!response.ok) throw await problemOf(response);
  const data = (await response.json()) as T;
  return { state: "ready", data, isCurrent: response.headers.get("Gpufl-Current") !== "false" };
}

async function change(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const response = await fetch(apiUrl(path), {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw await problemOf(response);
  return response;
}

export async function put<T>(path: string, body: unknown, ifMatch?: string): Promise<T> {
  const headers = ifMatch === undefined ? {} : { "If-Match": ifMatch };
  return (await (await change("PUT", path, body, headers)).json()) as T;
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  return (await (await change("POST", path, body)).json()) as T;
}

// Of what answers nothing but that it was done.
export async function replace(path: string, body: unknown): Promise<void> {
  await change("PUT", path, body);
}

export async function perform(path: string): Promise<void> {
  await change("POST", path, {});
}

export async function remove(path: string): Promise<void> {
  await change("DELETE", path);
}
