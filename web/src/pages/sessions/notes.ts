// SPDX-License-Identifier: Apache-2.0
// What the user wrote down about a session. Writing says which version was read, so that nobody's
// change is lost.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { apiUrl, Problem, put } from "../../api/client";
import { sessionPath } from "../../api/paths";
import type { Notes } from "../../api/types";

export interface ReadNotes extends Notes {
  etag: string | undefined;
}

export const MOST_TAGS = 32;
export const LONGEST_TAG = 64;
export const LONGEST_TEXT = 65_536;

async function readNotes(session: string, signal: AbortSignal): Promise<ReadNotes> {
  const response = await fetch(apiUrl(sessionPath(session, "/notes")), { signal });
  if (!response.ok) throw new Problem(response.status, "The notes cannot be read", "");
  const notes = (await response.json()) as Notes;
  return { ...notes, etag: response.headers.get("ETag") ?? undefined };
}

// "slow, baseline" as tags: each once, without spaces around it, as long as the server allows.
export function tagsOf(text: string): string[] {
  const tags = text
    .split(",")
    .map((tag) => tag.trim().slice(0, LONGEST_TAG))
    .filter(Boolean);
  return [...new Set(tags)].slice(0, MOST_TAGS);
}

export function problemText(problem: Problem): string {
  if (problem.status === 412) {
    return "Somebody else has changed these notes. What you wrote is still here; read theirs, then save again.";
  }
  return problem.detail || problem.title;
}

export interface NotesEditing {
  read: ReadNotes | undefined;
  error: Problem | null;
  isSaving: boolean;
  saveProblem: Problem | null;
  // What is there now, or null where it could not be saved. The tag is that of the version which was
  // changed: the newest one that was read may be another's.
  save: (notes: Notes, etag: string | undefined) => Promise<ReadNotes | null>;
  readAgain: () => Promise<ReadNotes | undefined>;
}

function asProblem(error: unknown): Problem | null {
  if (error === null || error instanceof Problem) return error;
  return new Problem(0, "The server does not answer", "Is gpufl serve still running?");
}

export function useNotes(session: string): NotesEditing {
  const client = useQueryClient();
  const path = sessionPath(session, "/notes");
  const [isSaving, setIsSaving] = useState(false);
  const [saveProblem, setSaveProblem] = useState<Problem | null>(null);
  const query = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => readNotes(session, signal),
    staleTime: 0,
    retry: false,
  });
  const readAgain = async () => {
    setSaveProblem(null);
    return (await query.refetch()).data;
  };
  const save = async (notes: Notes, etag: string | undefined) => {
    setIsSaving(true);
    setSaveProblem(null);
    try {
      await put<Notes>(path, notes, etag);
      // The lists show tags.
      void client.invalidateQueries({ queryKey: ["/sessions"] });
      void client.invalidateQueries({ queryKey: [sessionPath(session, "")] });
      return (await query.refetch()).data ?? null;
    } catch (error) {
      setSaveProblem(asProblem(error));
      return null;
    } finally {
      setIsSaving(false);
    }
  };
  return {
    read: query.data,
    error: asProblem(query.error),
    isSaving,
    saveProblem,
    save,
    readAgain,
  };
}
