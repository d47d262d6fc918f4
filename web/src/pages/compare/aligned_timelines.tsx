// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "react";
import { useApi } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import { navigate } from "../../base/address";
import { createTimeline, type Description, type Timeline } from "../../timeline";
import { HttpSource } from "../../timeline/http_source";
import { Panel } from "../../widgets/parts";
import { Ready } from "../../widgets/states";
import { sessionAddress } from "../session_frame";
import { alignedSpan, isSameView, lengthOf, shifted, type View } from "./align";

// A session that takes as much of the timeline as the other one.
class AlignedSource extends HttpSource {
  constructor(
    session: string,
    title: string,
    private readonly lengthNs: number,
  ) {
    super(session, { process: title, devices: [] });
  }
  override async describe(signal?: AbortSignal): Promise<Description> {
    const description = await super.describe(signal);
    return { ...description, span: alignedSpan(description.span, this.lengthNs) };
  }
}

export function AlignedTimelines({ a, b }: { a: string; b: string }) {
  const tracksA = useApi(sessionPath(a, "/tracks"));
  const tracksB = useApi(sessionPath(b, "/tracks"));
  return (
    <Panel
      title="Timelines"
      note="both begin at their first event and show as much time; moving one moves the other"
    >
      <Ready of={tracksA} rows={4}>
        {(ofA) => (
          <Ready of={tracksB} rows={4}>
            {(ofB) =>
              ofA.span && ofB.span ? (
                <Pair
                  key={`${a} ${b}`}
                  sessions={[a, b]}
                  starts={[ofA.span[0], ofB.span[0]]}
                  lengthNs={lengthOf([ofA.span, ofB.span])}
                />
              ) : (
                <p className="diff-foot">One of the sessions has no events on a timeline.</p>
              )
            }
          </Ready>
        )}
      </Ready>
    </Panel>
  );
}

// What is moved by hand leads, the other follows. A view that comes back from the follower is an
// echo and moves nothing.
function follow(leader: Timeline, follower: Timeline, by: number, sent: Map<Timeline, View>) {
  let last = leader.state.view;
  return leader.subscribe(() => {
    const { view } = leader.state;
    if (view === last || isSameView(view, last)) return;
    last = view;
    const echo = sent.get(leader);
    if (echo && isSameView(echo, view)) return;
    const target = shifted(view, by);
    sent.set(follower, target);
    follower.setView(target);
  });
}

function Pair({
  sessions,
  starts,
  lengthNs,
}: {
  sessions: [string, string];
  starts: [number, number];
  lengthNs: number;
}) {
  const [a, b] = sessions;
  const [startA, startB] = starts;
  const hostA = useRef<HTMLDivElement>(null);
  const hostB = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState(false);
  const titleA = useTitle("A", a);
  const titleB = useTitle("B", b);
  useEffect(() => {
    if (!hostA.current || !hostB.current) return undefined;
    const make = (host: HTMLDivElement, session: string, title: string) =>
      createTimeline(host, new AlignedSource(session, title, lengthNs), {
        isCompact: true,
        onProblem: () => setProblem(true),
        onOpen: ({ event }) => {
          if (event === null) return;
          const at = `timeline?event=${encodeURIComponent(event)}`;
          navigate(sessionAddress(session, at));
        },
      });
    const first = make(hostA.current, a, titleA);
    const second = make(hostB.current, b, titleB);
    const sent = new Map<Timeline, View>();
    const stops = [
      follow(first, second, startB - startA, sent),
      follow(second, first, startA - startB, sent),
    ];
    return () => {
      for (const stop of stops) stop();
      first.destroy();
      second.destroy();
    };
  }, [a, b, titleA, titleB, startA, startB, lengthNs]);
  return (
    <div className="aligned">
      <div ref={hostA} className="aligned-timeline" />
      <div ref={hostB} className="aligned-timeline" />
      {problem && <p className="diff-foot">A timeline could not be read.</p>}
    </div>
  );
}

function useTitle(letter: string, session: string): string {
  const app = useApi(sessionPath(session, "")).data?.app;
  return app ? `${letter} · ${app}` : letter;
}
