// SPDX-License-Identifier: Apache-2.0
// Answers of the API for components. What is being computed is asked for again until it is there.
import { useQueries, useQuery } from "@tanstack/react-query";
import { ask, type Answer, type Parameters, Problem } from "./client";
import { type Path, sectionPath } from "./paths";
import type { IndexFrame, Report, SectionName } from "./types";

// An analysis takes its time; a session that is being indexed has more to show at any moment, and the
// server holds each question until it knows more.
const POLL_MS = 400;
const INDEXING_MS = 50;
const MORE_MS = 200;

export interface Loaded<T> {
  data: T | undefined;
  // Of an analysis that runs, 0 to 1; null: nothing runs, or nobody knows how far it is.
  progress: number | null;
  isRunning: boolean;
  isCurrent: boolean;
  error: Problem | null;
  retry: () => void;
}

export interface AskOptions {
  enabled?: boolean;
  // Keep showing the last answer while the next one, of other parameters, is on its way.
  keepsLast?: boolean;
  // Of what changes without an event: ask again as often.
  everyMs?: number;
}

// How soon to ask again, in milliseconds; false: not by itself.
function pauseAfter(answer: Answer<unknown>): number | false {
  if (answer.state === "running") return answer.progress === null ? INDEXING_MS : POLL_MS;
  const frame = answer.data as Partial<IndexFrame> | null;
  return frame?.is_complete === false ? MORE_MS : false;
}

function asProblem(error: unknown): Problem | null {
  if (error === null || error === undefined) return null;
  return error instanceof Problem ? error : new Problem(0, "Something went wrong", String(error));
}

export function useApi<T>(
  path: Path<T>,
  parameters: Parameters = {},
  options: AskOptions = {},
): Loaded<T> {
  const { enabled = true, keepsLast = false, everyMs = 0 } = options;
  const query = useQuery<Answer<T>>({
    queryKey: [path, parameters],
    queryFn: ({ signal }) => ask<T>(path, parameters, signal),
    enabled,
    refetchInterval: ({ state }) =>
      (state.data ? pauseAfter(state.data) : false) || everyMs || false,
    retry: (failures, error) => error instanceof Problem && error.status === 503 && failures < 5,
    retryDelay: (_, error) => 1000 * ((error as Problem).retryAfterS ?? 1),
    ...(keepsLast ? { placeholderData: (last: Answer<T> | undefined) => last } : {}),
  });
  const answer = query.data;
  return {
    data: answer?.state === "ready" ? answer.data : undefined,
    progress: answer?.state === "running" ? answer.progress : null,
    isRunning: query.isLoading || answer?.state === "running",
    isCurrent: answer?.state === "ready" ? answer.isCurrent : true,
    error: asProblem(query.error),
    retry: () => void query.refetch(),
  };
}

// Several answers of one path, as far as they are there.
export function useEach<T>(path: Path<T>, asked: Parameters[]): T[] {
  return useQueries({
    queries: asked.map((parameters) => ({
      queryKey: [path, parameters],
      queryFn: ({ signal }: { signal: AbortSignal }) => ask<T>(path, parameters, signal),
      refetchInterval: ({ state }: { state: { data: Answer<T> | undefined } }) =>
        state.data ? pauseAfter(state.data) : false,
      retry: false,
    })),
    combine: dataOf<T>,
  });
}

function dataOf<T>(found: { data: Answer<T> | undefined }[]): T[] {
  return found.flatMap(({ data }) => (data?.state === "ready" ? [data.data] : []));
}

// A member of the session's JSON report.
export function useSection<Name extends SectionName>(
  session: string,
  section: Name,
): Loaded<Report[Name]> {
  return useApi(sectionPath(session, section));
}
