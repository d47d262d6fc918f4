// SPDX-License-Identifier: Apache-2.0
// What a session has on the timeline. While it is being read, what there is so far comes piece by
// piece; the server holds each question until it knows more, so they follow each other closely.
import type { Answer } from "../../api/client";
import { type Loaded, useApi } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { TrackList } from "../../api/types";

const AGAIN_MS = 50;
const MORE_MS = 200;

function pauseAfter(answer: Answer<TrackList>): number | false {
  if (answer.state === "running") return AGAIN_MS;
  return answer.data.is_complete ? false : MORE_MS;
}

export function useTracks(session: string): Loaded<TrackList> {
  return useApi(sessionPath(session, "/tracks"), {}, { pauseAfter });
}
