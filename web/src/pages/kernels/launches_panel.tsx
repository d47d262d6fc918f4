// SPDX-License-Identifier: Apache-2.0
// When a kernel was launched and how long each launch took: as dots, or as a list in pages.
import { useMemo, useState } from "react";
import { type Loaded, useApi, useEach } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { LaunchList, Stats } from "../../api/types";
import { navigate, useViewParameter } from "../../base/address";
import { count, exactTime } from "../../base/format";
import { Panel } from "../../widgets/parts";
import { Empty, Failed, Ready, Skeleton } from "../../widgets/states";
import { type Column, DataTable } from "../../widgets/table";
import { timeCell } from "../../widgets/time_cell";
import { sessionAddress } from "../session_frame";
import {
  FIRST_LAUNCHES,
  firstStretch,
  laterStretches,
  type Launch,
  launchesOf,
  mergeLaunches,
  OF_STRETCH,
  reachOf,
  streamOf,
  thin,
} from "./launches";
import { Scatter } from "./scatter";

const PAGE = 1000;

interface Launches {
  launches: Launch[];
  // Of the whole session.
  all: number;
  state: Loaded<LaunchList>;
  // Of the plot, where not all were looked at.
  reach: [number, number] | null;
}

function useLaunches(session: string, kernel: string): Launches {
  const state = useApi(sessionPath(session, "/launches"), { kernel, limit: FIRST_LAUNCHES });
  const first = state.data;
  const later = useMemo(() => (first ? laterStretches(first) : []), [first]);
  const parts = useEach(
    sessionPath(session, "/launches"),
    later.map((from) => ({ kernel, starts_from: from, limit: OF_STRETCH })),
  );
  const launches = useMemo(
    () => (first ? mergeLaunches([firstStretch(first), ...parts]) : []),
    [first, parts],
  );
  return { launches, all: first?.count ?? 0, state, reach: reachOf(first) };
}

// Where the timeline shows a launch with what was around it.
function timelineAddress(session: string, { event, start, duration: length }: Launch): string {
  const around = Math.max(length * 4, 10_000);
  const view = `from=${Math.floor(start - around)}&to=${Math.ceil(start + length + around)}`;
  return sessionAddress(session, `timeline?${view}&event=${encodeURIComponent(event)}`);
}

function columnsOf(typical: number | undefined): Column<Launch>[] {
  return [
    {
      key: "start",
      savedAs: "start_ns",
      title: "Start",
      isNumber: true,
      width: "minmax(130px, 1.2fr)",
      value: ({ start }) => start,
      cell: ({ start }) => exactTime(start),
    },
    {
      key: "duration",
      savedAs: "duration_ns",
      title: "Duration",
      isNumber: true,
      value: (launch) => launch.duration,
      cell: (launch) => timeCell(launch.duration),
    },
    {
      key: "typical",
      title: "Of typical",
      isNumber: true,
      hint: "Its duration, divided by the median of all launches",
      value: (launch) => (typical ? launch.duration / typical : null),
      cell: (launch) => (typical ? `${(launch.duration / typical).toFixed(2)}×` : "–"),
    },
    { key: "stream", title: "Stream", width: "minmax(120px, 1fr)", value: streamOf },
  ];
}

function LaunchPages(props: { session: string; kernel: string; time: Stats }) {
  const { session, kernel, time } = props;
  // Where the pages up to this one begin.
  const [starts, setStarts] = useState<(number | null)[]>([null]);
  const page = useApi(
    sessionPath(session, "/launches"),
    { kernel, starts_from: starts[starts.length - 1], limit: PAGE },
    { keepsLast: true },
  );
  const columns = useMemo(() => columnsOf(time.median), [time.median]);
  const rows = useMemo(() => (page.data ? launchesOf(page.data) : []), [page.data]);
  const next = page.data?.next_from ?? null;
  return (
    <Ready of={page} rows={6}>
      {({ count: all }) => (
        <>
          <DataTable
            rows={rows}
            columns={columns}
            rowKey={({ event }) => event}
            name="launches"
            fileName={`launches-${session}`}
            sortedBy="start"
            isAscending
            maxRows={12}
            addressOf={(launch) => timelineAddress(session, launch)}
          />
          {(starts.length > 1 || next !== null) && (
            <p className="panel-foot launches-pages">
              <button
                className="btn"
                disabled={starts.length === 1}
                onClick={() => setStarts(starts.slice(0, -1))}
              >
                Earlier
              </button>
              <button
                className="btn"
                disabled={next === null}
                onClick={() => setStarts([...starts, next])}
              >
                Later
              </button>
              <span className="dim num">
                {count(rows.length)} of {count(all)}
              </span>
            </p>
          )}
        </>
      )}
    </Ready>
  );
}

function LaunchDots(props: {
  session: string;
  dots: Launch[];
  state: Loaded<LaunchList>;
  reach: [number, number] | null;
  time: Stats;
}) {
  const { session, dots, state, reach, time } = props;
  if (dots.length > 0) {
    return (
      <Scatter
        launches={dots}
        reach={reach}
        p99={time.p99}
        onOpen={(launch) => navigate(timelineAddress(session, launch))}
      />
    );
  }
  if (state.error) return <Failed problem={state.error} retry={state.retry} />;
  if (state.data === undefined) return <Skeleton rows={6} />;
  return <Empty title="No launch to draw">The timeline has no launch of this kernel.</Empty>;
}

export function LaunchesPanel(props: { session: string; kernel: string; time: Stats }) {
  const { session, kernel, time } = props;
  const [shown, setShown] = useViewParameter("launches");
  const isList = shown === "list";
  const of = useLaunches(session, kernel);
  const dots = useMemo(() => thin(of.launches), [of.launches]);
  const note =
    !isList && dots.length < of.all
      ? `${count(dots.length)} of ${count(of.all)}, evenly over the run`
      : "";
  return (
    <Panel
      title="Launches over time"
      note={note}
      actions={
        <button
          className="btn"
          aria-pressed={isList}
          onClick={() => setShown(isList ? null : "list")}
        >
          As a list
        </button>
      }
    >
      {isList ? (
        <LaunchPages session={session} kernel={kernel} time={time} />
      ) : (
        <LaunchDots session={session} dots={dots} state={of.state} reach={of.reach} time={time} />
      )}
    </Panel>
  );
}
