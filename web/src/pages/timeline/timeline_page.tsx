// SPDX-License-Identifier: Apache-2.0
// The timeline of a session.
import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { Problem } from "../../api/client";
import { useApi } from "../../api/hooks";
import { sectionPath, sessionPath } from "../../api/paths";
import type { Session, TrackList, WarpLaunch } from "../../api/types";
import { setViewParameters, useAddressSearch } from "../../base/address";
import { duration, percent } from "../../base/format";
import { useKeys } from "../../base/keys";
import { ACTIONS, Timeline } from "../../timeline";
import { refOf } from "../../timeline/event_around";
import { HttpSource, type SessionFacts } from "../../timeline/http_source";
import { Empty, Ready, Skeleton } from "../../widgets/states";
import { keepCursor, keptCursor } from "../cursor";
import { EventCard } from "./event_card";
import { SearchBox } from "./search_box";
import { SelectionBar } from "./selection_bar";
import { readLink, spanningEvent, writeLink } from "./view_link";
import "./timeline_page.css";

const WRITE_AFTER_MS = 250;
// That begin in the same nanosecond.
const MOST_AT_ONCE = 1000;

function factsOf(session: Session | undefined, id: string, warps: WarpLaunch[]): SessionFacts {
  const launches = warps.map(({ kernel, launch }) => ({
    launch: launch.launch,
    kernel,
    groups: launch.group_names ?? [],
  }));
  if (!session) return { process: id, devices: [], launches };
  const rank = session.rank === null ? "" : ` · rank ${session.rank}`;
  return {
    process: `${session.app || session.process || id}${rank}`,
    lengthNs: session.duration_ns,
    devices: session.devices,
    launches,
  };
}

export default function TimelinePage({ session }: { session: string }) {
  const about = useApi(sessionPath(session, ""));
  const tracks = useApi(sessionPath(session, "/tracks"));
  const hasWarps = tracks.data?.tracks.some(({ kind }) => kind === "warps") ?? false;
  const warps = useApi(sectionPath(session, "warps"), {}, { enabled: hasWarps });
  return (
    <section className="panel tlp">
      <Ready of={tracks} rows={12}>
        {(json) =>
          json.is_complete && json.tracks.length === 0 && json.series.length === 0 ? (
            <Empty title="This session has nothing on the timeline">
              Kernels, copies and API calls are recorded by{" "}
              <code>gpufl trace -- python train.py</code>, readings of GPUs and the host by{" "}
              <code>gpufl monitor</code>.
            </Empty>
          ) : about.data === undefined && about.error === null ? (
            <Skeleton rows={12} />
          ) : (
            <TimelinePanel
              key={session}
              session={session}
              json={json}
              facts={factsOf(about.data, session, warps.data ?? [])}
            />
          )
        }
      </Ready>
    </section>
  );
}

interface PanelProps {
  session: string;
  json: TrackList;
  facts: SessionFacts;
}

function TimelinePanel({ session, json, facts }: PanelProps) {
  const container = useRef<HTMLDivElement>(null);
  const [made, setMade] = useState<{ timeline: Timeline; source: HttpSource } | null>(null);
  const key = JSON.stringify(facts);
  const latest = useRef({ json, facts });
  latest.current = { json, facts };
  // Before the rest of the page is there: what is in view is asked for meanwhile.
  useLayoutEffect(() => {
    if (!container.current) return;
    const source = new HttpSource(session, latest.current.facts);
    const timeline = new Timeline(container.current, source);
    timeline.setDescription(source.use(latest.current.json));
    openLink(timeline, addressSearch(), true);
    if (timeline.state.cursor === null) timeline.setCursor(keptCursor(session));
    timeline.tellViewNow();
    setMade({ timeline, source });
    return () => timeline.destroy();
  }, [session]);
  useEffect(() => {
    made?.timeline.setDescription(made.source.use(json, JSON.parse(key) as SessionFacts));
  }, [made, json, key]);
  return (
    <>
      {made ? <Tools session={session} timeline={made.timeline} /> : <header />}
      <div className="tlp-body">
        <div className="tlp-plot" ref={container} />
        {made && <Card session={session} timeline={made.timeline} />}
      </div>
      {made && <Bar session={session} timeline={made.timeline} />}
    </>
  );
}

function useTimelineState(timeline: Timeline) {
  return useSyncExternalStore(timeline.subscribe, () => timeline.state);
}

function Card({ session, timeline }: { session: string; timeline: Timeline }) {
  return <EventCard session={session} timeline={timeline} state={useTimelineState(timeline)} />;
}

function Bar({ session, timeline }: { session: string; timeline: Timeline }) {
  return <SelectionBar session={session} timeline={timeline} state={useTimelineState(timeline)} />;
}

function addressSearch(): string {
  return window.location.hash.split("?")[1] ?? "";
}

function addressPath(): string {
  return window.location.hash.split("?")[0] ?? "";
}

function openLink(timeline: Timeline, search: string, isFirst: boolean): void {
  const link = readLink(new URLSearchParams(search));
  const { view, event, range, cursor } = link;
  timeline.setTracks(link.pinned, link.toggled);
  timeline.setScroll(link.scroll);
  if (view) timeline.setView(view);
  else if (!isFirst) timeline.fit();
  timeline.setRange(range);
  timeline.setCursor(cursor);
  if (event) timeline.selectById(event.id, event.track, event.start, view === null);
  else timeline.select(null);
  timeline.showSearch(link.search);
  if (link.isFollowing && timeline.state.description?.isLive) timeline.follow(true);
}

// Selects the event that an address tells by its times alone. False: it is still looked for.
function useSpan(session: string, timeline: Timeline, search: string): boolean {
  const { span } = readLink(new URLSearchParams(search));
  const from = span?.[0] ?? 0;
  const at = useApi(
    sessionPath(session, "/events"),
    { from, to: from + 1, starts_from: from, limit: MOST_AT_ONCE },
    { enabled: span !== null },
  );
  const found = span && at.data ? spanningEvent(at.data.events, span) : null;
  const key = JSON.stringify(found);
  useEffect(() => {
    const event = JSON.parse(key) as typeof found;
    if (event) timeline.select(refOf(event));
  }, [timeline, key]);
  return span === null || at.data !== undefined || at.error !== null;
}

// The address follows the view, and the view an address that somebody opens. The page lives on for a
// moment after it was left, until the next one is loaded: an address of another page is not its own.
function useLink(session: string, timeline: Timeline): void {
  const search = useAddressSearch();
  const written = useRef(search);
  const isOpening = useRef(hasEvent(search));
  const own = useRef(addressPath());
  const { view, isFitted, selected, range, cursor, pinned, toggled, ...state } =
    useTimelineState(timeline);
  const { scroll, isFollowing, detailProblem } = state;
  const { text } = state.search;
  useEffect(() => keepCursor(session, cursor), [session, cursor]);
  useEffect(() => {
    if (search === written.current || addressPath() !== own.current) return;
    written.current = search;
    isOpening.current = hasEvent(search);
    openLink(timeline, search, false);
  }, [search, timeline]);
  const isFound = useSpan(session, timeline, search);
  useEffect(() => {
    // A link that is being opened is not overwritten by what was there before.
    if (!isFound || (isOpening.current && !selected && detailProblem === null)) return;
    isOpening.current = false;
    const timer = setTimeout(() => {
      if (addressPath() !== own.current) return;
      const isLive = timeline.state.description?.isLive ?? false;
      setViewParameters(writeLink(timeline.state, isLive));
      written.current = addressSearch();
    }, WRITE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [
    timeline,
    view,
    isFitted,
    selected,
    range,
    cursor,
    pinned,
    toggled,
    scroll,
    text,
    isFollowing,
    detailProblem,
    isFound,
  ]);
}

function hasEvent(search: string): boolean {
  return readLink(new URLSearchParams(search)).event !== null;
}

function Tools({ session, timeline }: { session: string; timeline: Timeline }) {
  const state = useTimelineState(timeline);
  const { description, view, isFitted, isFollowing, problem } = state;
  useLink(session, timeline);
  useKeys(ACTIONS.map(({ keys, what, run }) => ({ keys, what, run: () => run(timeline) })));
  return (
    <header>
      <h2>Timeline</h2>
      {description?.span && (
        <span className="note num">{duration(view.to - view.from)} in view</span>
      )}
      {description && !description.isComplete && (
        <span className="note" role="status">
          reading the session, {percent(description.progress)}
        </span>
      )}
      {description && description.problems.length > 0 && (
        <span className="note tlp-warn" title={description.problems.join("\n")}>
          parts of the log are not readable
        </span>
      )}
      {problem !== null && (
        <span className="note tlp-warn" role="alert">
          {problem instanceof Problem ? problem.title : "The timeline cannot be read"}, trying
          again. Hatched: not read
        </span>
      )}
      <span className="grow" />
      <SearchBox timeline={timeline} state={state} />
      <span className="note tlp-hint" title="The wheel scrolls; with Ctrl it zooms at the pointer">
        drag · Ctrl+scroll · W A S D
      </span>
      <button className="btn" aria-pressed={isFitted} onClick={() => timeline.fit()}>
        Fit
      </button>
      {description?.isLive && (
        <button
          className="btn"
          aria-pressed={isFollowing}
          onClick={() => timeline.follow(!isFollowing)}
        >
          Follow
        </button>
      )}
    </header>
  );
}
