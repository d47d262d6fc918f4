// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { destinationOf, sendTrace } from "./perfetto";

const ORIGIN = "https://ui.perfetto.dev";

function setUp() {
  const listeners = new Set<(event: MessageEvent) => void>();
  const target = { closed: false, postMessage: vi.fn() };
  const messages = {
    addEventListener: (_: string, listener: (event: MessageEvent) => void) =>
      void listeners.add(listener),
    removeEventListener: (_: string, listener: (event: MessageEvent) => void) =>
      void listeners.delete(listener),
  };
  const say = (data: unknown, origin = ORIGIN, source: unknown = target) => {
    for (const listener of [...listeners]) listener({ data, origin, source } as MessageEvent);
  };
  const trace = { buffer: new ArrayBuffer(3), title: "gpt", fileName: "gpt.perfetto-trace" };
  return { target, messages, say, trace, listeners, stop: new AbortController() };
}

describe("handing a trace over", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("knocks until the page answers, then sends once", async () => {
    const { target, messages, say, trace, listeners, stop } = setUp();
    const sent = sendTrace(target, ORIGIN, trace, stop.signal, messages);
    vi.advanceTimersByTime(350);
    expect(target.postMessage.mock.calls).toEqual([
      ["PING", ORIGIN],
      ["PING", ORIGIN],
      ["PING", ORIGIN],
    ]);
    say("PONG");
    await sent;
    expect(target.postMessage).toHaveBeenLastCalledWith({ perfetto: trace }, ORIGIN, [
      trace.buffer,
    ]);
    vi.advanceTimersByTime(1000);
    expect(target.postMessage).toHaveBeenCalledTimes(4);
    expect(listeners.size).toBe(0);
  });

  it("gives the trace to nobody else", () => {
    const { target, messages, say, trace, stop } = setUp();
    void sendTrace(target, ORIGIN, trace, stop.signal, messages).catch(() => undefined);
    say("PONG", "https://evil.example");
    say("PONG", ORIGIN, {});
    say("hello");
    expect(target.postMessage).not.toHaveBeenCalled();
    stop.abort();
  });

  it("stops when it is cancelled, or the window is closed", async () => {
    const first = setUp();
    const cancelled = sendTrace(
      first.target,
      ORIGIN,
      first.trace,
      first.stop.signal,
      first.messages,
    );
    first.stop.abort();
    await expect(cancelled).rejects.toThrow("Cancelled");
    const second = setUp();
    const closed = sendTrace(
      second.target,
      ORIGIN,
      second.trace,
      second.stop.signal,
      second.messages,
    );
    second.target.closed = true;
    vi.advanceTimersByTime(100);
    await expect(closed).rejects.toThrow("closed");
  });
});

it("takes only addresses of pages", () => {
  expect(destinationOf(" https://perfetto.example/ui ")?.origin).toBe("https://perfetto.example");
  expect(destinationOf("http://127.0.0.1:10000")?.origin).toBe("http://127.0.0.1:10000");
  expect(destinationOf("javascript:alert(1)")).toBeNull();
  expect(destinationOf("ui.perfetto.dev")).toBeNull();
  expect(destinationOf("https://user:secret@ui.perfetto.dev")).toBeNull();
});
