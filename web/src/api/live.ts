// SPDX-License-Identifier: Apache-2.0
// What happens on the server, for all tabs over one stream: a browser has six connections to a
// server, and a stream takes one for good. The tab that holds the lock reads it and passes events
// on; where there are no locks, tabs ask now and then.
import type { QueryClient } from "@tanstack/react-query";
import { path } from "../base/place";
import { apiUrl } from "./client";
import { look } from "./reach";

// Tabs of other workspaces of the server, and of links, have streams of their own.
const NAME = `gpufl-events ${path}`;
const POLL_MS = 5000;
const AGAIN_MS = 2000;
// A session that is recorded grows several times a second; its pages ask again this often.
const CALM_MS = 1000;
// What a page asked for in its first moments is up to date.
const START_MS = 3000;

interface Happened {
  event: "hello" | "session" | "analysis" | "lost";
  data: { id?: string; session?: string };
}

// Answers about a session that grew are out of date, and so are the lists.
export function refresh(client: QueryClient, happened: Happened): void {
  // What was answered stays; whether there will be answers is asked for.
  if (happened.event === "lost") {
    void look();
    return;
  }
  const session = happened.data.id ?? happened.data.session;
  const of = session === undefined ? null : `/sessions/${encodeURIComponent(session)}`;
  void client.invalidateQueries({
    predicate: ({ queryKey: [asked] }) => {
      if (typeof asked !== "string") return false;
      if (happened.event === "hello" || of === null) return true;
      const isList = ["/sessions", "/runs", "/hosts", "/devices"].includes(asked);
      return asked === of || asked.startsWith(`${of}/`) || (isList && happened.event === "session");
    },
  });
}

const EVERYTHING: Happened = { event: "hello", data: {} };

// The first of a session's events at once, and of those that follow it the last in each pause.
function calmly(tell: (happened: Happened) => void): (happened: Happened) => void {
  const latest = new Map<string, Happened | null>();
  const rest = (session: string) =>
    setTimeout(() => {
      const happened = latest.get(session);
      if (!happened) {
        latest.delete(session);
        return;
      }
      latest.set(session, null);
      tell(happened);
      rest(session);
    }, CALM_MS);
  return (happened) => {
    const session = happened.event === "session" ? happened.data.id : undefined;
    if (session === undefined) {
      tell(happened);
    } else if (latest.has(session)) {
      latest.set(session, happened);
    } else {
      latest.set(session, null);
      tell(happened);
      rest(session);
    }
  };
}

// Until the server refuses.
function read(onEvent: (happened: Happened) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const source = new EventSource(apiUrl("/events"));
    const done = new AbortController();
    const end = () => {
      source.close();
      done.abort();
      resolve();
    };
    for (const event of ["hello", "session", "analysis"] as const) {
      source.addEventListener(event, (message: MessageEvent<string>) => {
        onEvent({ event, data: JSON.parse(message.data) as Happened["data"] });
      });
    }
    // The browser connects again by itself, unless it was refused.
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) end();
      else onEvent({ event: "lost", data: {} });
    };
    signal.addEventListener("abort", end, { signal: done.signal });
  });
}

// Reads the stream for all tabs. A server that was started again refuses this browser until its new
// address is opened: pages ask once to find out and say so, and again when it works.
async function lead(tell: (happened: Happened) => void, isNew: () => boolean, signal: AbortSignal) {
  let isRefused = false;
  while (!signal.aborted) {
    await read((happened) => {
      if (happened.event !== "lost") isRefused = false;
      // A greeting follows a pause in which events were lost, but for that of a page that starts.
      if (happened.event !== "hello" || !isNew()) tell(happened);
    }, signal);
    if (signal.aborted) return;
    if (!isRefused) tell(EVERYTHING);
    isRefused = true;
    await new Promise((later) => setTimeout(later, AGAIN_MS));
  }
}

export function followEvents(client: QueryClient): () => void {
  const stop = new AbortController();
  if (!navigator.locks || typeof BroadcastChannel === "undefined") {
    const poll = () => {
      if (document.visibilityState === "visible") refresh(client, EVERYTHING);
    };
    const timer = setInterval(poll, POLL_MS);
    return () => clearInterval(timer);
  }
  const channel = new BroadcastChannel(NAME);
  channel.onmessage = (message: MessageEvent<Happened>) => refresh(client, message.data);
  const tell = calmly((happened) => {
    channel.postMessage(happened);
    refresh(client, happened);
  });
  const begun = performance.now();
  let isFirst = true;
  const isNew = () => {
    const isStart = isFirst && performance.now() - begun < START_MS;
    isFirst = false;
    return isStart;
  };
  navigator.locks
    .request(NAME, { signal: stop.signal }, () => lead(tell, isNew, stop.signal))
    .catch(() => undefined);
  return () => {
    stop.abort();
    channel.close();
  };
}
