// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "react";
import { useApi } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import { navigate, setViewParameters } from "../../base/address";
import { createTimeline, type Description, type Timeline } from "../../timeline";
import { HttpSource } from "../../timeline/http_source";
import { sessionAddress } from "../session_frame";
import { linkedView, shifted, type Span, type View } from "./align";
import { follow, type Followed } from "./follow";

const WRITE_AFTER_MS = 250;

// A session that takes as much of the timeline as the other one.
class AlignedSource extends HttpSource {
  constructor(
    session: string,
    title: string,
    private readonly span: Span,
  ) {
    super(session, { process: title, devices: [] });
  }
  override async describe(signal?: AbortSignal): Promise<Description> {
    return { ...(await super.describe(signal)), span: [this.span[0], this.span[1]] };
  }
}

// Once both know what they show.
function whenDescribed(timelines: Timeline[], done: () => void): () => void {
  const stops: (() => void)[] = [];
  const look = () => {
    if (timelines.some(({ state }) => state.description === null)) return;
    for (const stop of stops.splice(0)) stop();
    done();
  };
  for (const timeline of timelines) stops.push(timeline.subscribe(look));
  return () => {
    for (const stop of stops.splice(0)) stop();
  };
}

function addressView(): View | null {
  const search = new URLSearchParams(window.location.hash.split("?")[1] ?? "");
  return linkedView(search.get("from"), search.get("to"));
}

// The address follows the first one.
function writeView(timeline: Timeline): () => void {
  const own = window.location.hash.split("?")[0];
  let timer = 0;
  let last = timeline.state.view;
  const stop = timeline.subscribe(() => {
    const { view, isFitted } = timeline.state;
    if (view === last) return;
    last = view;
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (window.location.hash.split("?")[0] !== own) return;
      setViewParameters({
        from: isFitted ? null : String(Math.floor(view.from)),
        to: isFitted ? null : String(Math.ceil(view.to)),
      });
    }, WRITE_AFTER_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

export function TimelinePair({
  sessions,
  spans,
  by,
  start,
}: {
  sessions: [string, string];
  spans: [Span, Span];
  // From the time of the first to that of the second.
  by: number;
  // What the first shows at first, unless the address tells; null: everything.
  start: View | null;
}) {
  const [a, b] = sessions;
  const hostA = useRef<HTMLDivElement>(null);
  const hostB = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState(false);
  const titleA = useTitle("A", a);
  const titleB = useTitle("B", b);
  const given = useRef({ spans, start });
  useEffect(() => {
    // Made once: what is made again forgets where it was moved to.
    if (!hostA.current || !hostB.current || titleA === null || titleB === null) return undefined;
    const make = (host: HTMLDivElement, session: string, title: string, span: Span) =>
      createTimeline(host, new AlignedSource(session, title, span), {
        isCompact: true,
        listensToKeys: true,
        onProblem: () => setProblem(true),
        onOpen: ({ event }) => {
          if (event === null) return;
          const at = `timeline?event=${encodeURIComponent(event)}`;
          navigate(sessionAddress(session, at));
        },
      });
    const first = make(hostA.current, a, titleA, given.current.spans[0]);
    const second = make(hostB.current, b, titleB, given.current.spans[1]);
    const fitHeights = () => {
      hostA.current?.style.setProperty("--full", `${first.fullHeight}px`);
      hostB.current?.style.setProperty("--full", `${second.fullHeight}px`);
    };
    const sent = new Map<Followed, View>();
    const stops: (() => void)[] = [];
    const stop = whenDescribed([first, second], () => {
      const view = addressView() ?? given.current.start;
      if (view) {
        first.setView(view);
        second.setView(shifted(view, by));
        sent.set(second, shifted(view, by));
      }
      fitHeights();
      stops.push(
        first.subscribe(fitHeights),
        second.subscribe(fitHeights),
        follow(first, second, by, sent),
        follow(second, first, -by, sent),
        writeView(first),
      );
    });
    return () => {
      stop();
      for (const end of stops) end();
      first.destroy();
      second.destroy();
    };
  }, [a, b, titleA, titleB, by]);
  return (
    <div className="aligned">
      <div ref={hostA} className="aligned-timeline" />
      <div ref={hostB} className="aligned-timeline" />
      {problem && <p className="diff-foot">A timeline could not be read.</p>}
    </div>
  );
}

// Null: nobody knows yet.
function useTitle(letter: string, session: string): string | null {
  const { data, error } = useApi(sessionPath(session, ""));
  if (!data && !error) return null;
  return data?.app ? `${letter} · ${data.app}` : letter;
}
