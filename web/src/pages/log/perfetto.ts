// SPDX-License-Identifier: Apache-2.0
// Perfetto's page takes a trace from another page: it is sent "PING" until it answers "PONG", then
// the trace. Nothing leaves the browser but to that page.

export const PERFETTO = "https://ui.perfetto.dev";
const KEY = "gpufl-perfetto";
const AGAIN_MS = 100;

export function savedDestination(): string {
  try {
    return localStorage.getItem(KEY) ?? PERFETTO;
  } catch {
    // Storage can be forbidden.
    return PERFETTO;
  }
}

export function saveDestination(url: string): void {
  try {
    if (url === PERFETTO) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, url);
  } catch {
    // It is asked for again the next time.
  }
}

// The address to open, or null where it is none that a browser may show.
export function destinationOf(typed: string): URL | null {
  const text = typed.trim();
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.username === "" && url.password === "" ? url : null;
}

export interface Trace {
  buffer: ArrayBuffer;
  title: string;
  fileName: string;
}

// Of a window what is needed here.
export interface Target {
  closed: boolean;
  postMessage: (message: unknown, origin: string, transfer?: Transferable[]) => void;
}
export interface Messages {
  addEventListener: (type: "message", listener: (event: MessageEvent) => void) => void;
  removeEventListener: (type: "message", listener: (event: MessageEvent) => void) => void;
}

export function sendTrace(
  target: Target,
  origin: string,
  trace: Trace,
  signal: AbortSignal,
  messages: Messages = window,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (settle: () => void) => {
      clearInterval(timer);
      messages.removeEventListener("message", onMessage);
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const onAbort = () => stop(() => reject(new Error("Cancelled")));
    const onMessage = (event: MessageEvent) => {
      if (event.source !== target || event.origin !== origin || event.data !== "PONG") return;
      stop(() => {
        target.postMessage({ perfetto: trace }, origin, [trace.buffer]);
        resolve();
      });
    };
    const timer = setInterval(() => {
      if (target.closed) stop(() => reject(new Error("The window was closed")));
      else target.postMessage("PING", origin);
    }, AGAIN_MS);
    messages.addEventListener("message", onMessage);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
  });
}
