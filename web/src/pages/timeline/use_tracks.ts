// SPDX-License-Identifier: Apache-2.0
// What a session has on the timeline. While it is being read, what there is so far comes piece by
// piece; the server holds each question until it knows more, so they follow each other closely.
import { useQuery } from "@tanstack/react-query";
import { type Answer, ask, Problem } from "../../api/client";
import { type Loaded, sessionPath } from "../../api/hooks";
import type { JsonTracks } from "../../timeline/http_source";

const AGAIN_MS = 50;
const MORE_MS = 200;

function pauseAfter(answer: Answer<JsonTracks> | undefined): number | false {
  if (answer === undefined) return false;
  if (answer.state === "running") return AGAIN_MS;
  return answer.data.is_complete ? false : MORE_MS;
}

export function useTracks(session: string): Loaded<JsonTracks> {
  const path = sessionPath(session, "/tracks");
  const { data, error, isLoading, refetch } = useQuery<Answer<JsonTracks>>({
    queryKey: [path, {}],
    queryFn: ({ signal }) => ask<JsonTracks>(path, {}, signal),
    refetchInterval: ({ state }) => pauseAfter(state.data),
    retry: (failures, problem) =>
      problem instanceof Problem && problem.status === 503 && failures < 5,
    retryDelay: (_, problem) => 1000 * ((problem as Problem).retryAfterS ?? 1),
  });
  return {
    data: data?.state === "ready" ? data.data : undefined,
    progress: data?.state === "running" ? data.progress : null,
    isRunning: isLoading || data?.state === "running",
    isCurrent: data?.state !== "ready" || data.isCurrent,
    error: error instanceof Problem ? error : null,
    retry: () => void refetch(),
  };
}
