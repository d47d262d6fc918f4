// SPDX-License-Identifier: Apache-2.0
// The list of sessions, page by page, with the filters that are in the address.
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { ask, Problem } from "../../api/client";
import { pathOf } from "../../api/paths";
import type { Session } from "../../api/types";
import { setViewParameters, useAddressSearch } from "../../base/address";

export const FILTERS = ["state", "host", "app", "engine", "tag"] as const;
export type Filter = (typeof FILTERS)[number];
export type Filters = Record<Filter | "q" | "sort", string | null>;

const PAGE = 200;

export function useFilters(): Filters {
  const search = useAddressSearch();
  return useMemo(() => {
    const given = new URLSearchParams(search);
    const of = (name: string) => given.get(name) || null;
    return {
      q: of("q"),
      sort: of("sort"),
      state: of("state"),
      host: of("host"),
      app: of("app"),
      engine: of("engine"),
      tag: of("tag"),
    };
  }, [search]);
}

export function clearFilters(): void {
  setViewParameters({ q: null, state: null, host: null, app: null, engine: null, tag: null });
}

export function isFiltered(filters: Filters): boolean {
  return filters.q !== null || FILTERS.some((name) => filters[name] !== null);
}

async function page(filters: Filters, cursor: string | null, signal: AbortSignal) {
  const answer = await ask(pathOf("/sessions"), { ...filters, limit: PAGE, cursor }, signal);
  if (answer.state !== "ready") throw new Problem(503, "The list is not there yet", "");
  return answer.data;
}

export interface SessionList {
  sessions: Session[] | undefined;
  matches: number;
  error: Problem | null;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => void;
  retry: () => void;
}

export function useSessions(filters: Filters): SessionList {
  const query = useInfiniteQuery({
    queryKey: ["/sessions", filters, "pages"],
    queryFn: ({ pageParam, signal }) => page(filters, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const pages = query.data?.pages;
  const sessions = useMemo(() => {
    if (!pages) return undefined;
    // A session that appears while pages are read can be at the end of one and the start of the next.
    const byId = new Map(pages.flatMap((one) => one.sessions).map((s) => [s.id, s]));
    return [...byId.values()];
  }, [pages]);
  const error = query.error;
  return {
    sessions,
    matches: pages?.[0]?.matches ?? 0,
    error:
      error === null || error instanceof Problem
        ? error
        : new Problem(0, "Something went wrong", String(error)),
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
    },
    retry: () => void query.refetch(),
  };
}
