// SPDX-License-Identifier: Apache-2.0
// When a kernel was launched and how long each launch took: as dots, or as a list in pages.
import { useMemo, useState } from "react";
import { type Loaded, useApi } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { LaunchList, Stats } from "../../api/types";
import { navigate, useViewParameter } from "../../base/address";
import { count, duration, exactTime } from "../../base/format";
import { Panel } from "../../widgets/parts";
import { Empty, Failed, Ready, Skeleton } from "../../widgets/states";
import { type Column, DataTable } from "../../widgets/table";
import { sessionAddress } from "../session_frame";
import {
  FIRST_LAUNCHES,
  laterStretches,
  LATER_LAUNCHES,
  type Launch,
  launchesOf,
  mergeLaunches,
  streamOf,
  thin,
} from "./launches";
import { Scatter } from "./scatter";

const PAGE = 1000;

function useStretch(session: string, kernel: string, from: number | undefined) {
  return useApi(
    sessionPath(session, "/launches"),
    { kernel, starts_from: from, limit: LATER_LAUNCHES },
    { enabled: from !== undefined },
  );
}

interface Launches {
  launches: Launch[];
  // Of the whole session.
  all: number;
  state: Loaded<LaunchList>;
}

// Up to three more stretches; their number is fixed because hooks are.
function useLaunches(session: string, kernel: string): Launches {
  const state = useApi(sessionPath(session, "/launches"), { kernel, limit: FIRST_LAUNCHES });
  const first = state.data;
  const later = useMemo(() => (first ? laterStretches(first) : []), [first]);
  const a = useStretch(session, kernel, later[0]).data;
  const b = useStretch(session, kernel, later[1]).data;
  const c = useStretch(session, kernel, later[2]).data;
  const launches = useMemo(
    () => mergeLaunches([first, a, b, c].filter((part) => part !== undefined)),
    [first, a, b, c],
  );
  return { launches, all: first?.count ?? 0, state };
}

// The part of an address that opens a launch with what was around it.
function openOnTimeline(session: string, { event, start, duration: length }: Launch): void {
  const around = Math.max(length * 4, 10_000);
  const view = `from=${Math.floor(start - around)}&to=${Math.ceil(start + length + around)}`;
  navigate(sessionAddress(session, `timeline?${view}&event=${encodeURIComponent(event)}`));
}

function columnsOf(typical: number | undefined): Column<Launch>[] {
  return [
    {
      key: "start",
      title: "Start",
      isNumber: true,
      width: "minmax(130px, 1.2fr)",
      value: ({ start }) => start,
      cell: ({ start }) => exactTime(start),
    },
    {
      key: "duration",
      title: "Duration",
      isNumber: true,
      value: (launch) => launch.duration,
      cell: (launch) => duration(launch.duration),
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
            onOpen={(launch) => openOnTimeline(session, launch)}
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
  time: Stats;
}) {
  const { session, dots, state, time } = props;
  if (dots.length > 0) {
    return (
      <Scatter
        launches={dots}
        p99={time.p99}
        onOpen={(launch) => openOnTimeline(session, launch)}
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
  const note = !isList && dots.length < of.all ? `${count(dots.length)} of ${count(of.all)}` : "";
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
        <LaunchDots session={session} dots={dots} state={of.state} time={time} />
      )}
    </Panel>
  );
}
