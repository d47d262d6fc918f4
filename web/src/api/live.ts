// SPDX-License-Identifier: Apache-2.0
// What happens on the server, for all tabs over one stream: a browser has six connections to a
// server, and a stream takes one for good. The tab that holds the lock reads it and passes events
// on; where there are no locks, tabs ask now and then.
import type { QueryClient } from "@tanstack/react-query";
import { apiUrl } from "./client";

const NAME = "gpufl-events";
const POLL_MS = 5000;
const AGAIN_MS = 2000;

interface Happened {
  event: "hello" | "session" | "analysis";
  data: { id?: string; session?: string };
}

// Answers about a session that grew are out of date, and so are the lists.
export function refresh(client: QueryClient, happened: Happened): void {
  const session = happened.data.id ?? happened.data.session;
  const of = session === undefined ? null : `/sessions/${encodeURIComponent(session)}`;
  void client.invalidateQueries({
    predicate: ({ queryKey: [path] }) => {
      if (typeof path !== "string") return false;
      if (happened.event === "hello" || of === null) return true;
      const isList = ["/sessions", "/runs", "/hosts", "/devices"].includes(path);
      return path === of || path.startsWith(`${of}/`) || (isList && happened.event === "session");
    },
  });
}

function read(onEvent: (happened: Happened) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const source = new EventSource(apiUrl("/events"));
    let isFirst = true;
    for (const event of ["hello", "session", "analysis"] as const) {
      source.addEventListener(event, (message: MessageEvent<string>) => {
        // The first greeting says nothing new; a later one follows a pause in which events were lost.
        if (event === "hello" && isFirst) {
          isFirst = false;
          return;
        }
        onEvent({ event, data: JSON.parse(message.data) as Happened["data"] });
      });
    }
    // The browser connects again by itself, unless it was refused.
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(resolve, AGAIN_MS);
    };
    signal.addEventListener("abort", () => {
      source.close();
      resolve();
    });
  });
}

export function followEvents(client: QueryClient): () => void {
  const stop = new AbortController();
  if (!navigator.locks || typeof BroadcastChannel === "undefined") {
    const timer = setInterval(() => refresh(client, { event: "hello", data: {} }), POLL_MS);
    return () => clearInterval(timer);
  }
  const channel = new BroadcastChannel(NAME);
  channel.onmessage = (message: MessageEvent<Happened>) => refresh(client, message.data);
  const lead = async () => {
    while (!stop.signal.aborted) {
      await read((happened) => {
        channel.postMessage(happened);
        refresh(client, happened);
      }, stop.signal);
    }
  };
  navigator.locks.request(NAME, { signal: stop.signal }, lead).catch(() => undefined);
  return () => {
    stop.abort();
    channel.close();
  };
}
