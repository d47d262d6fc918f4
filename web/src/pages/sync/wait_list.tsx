// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "react";
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import { setViewParameters } from "../../base/address";
import { count, exactTime, isUnknown, UNKNOWN } from "../../base/format";
import { Panel } from "../../widgets/parts";
import { Ready } from "../../widgets/states";
import { type Column, DataTable } from "../../widgets/table";
import { timeCell } from "../../widgets/time_cell";
import { sessionAddress } from "../session_frame";
import { type EachWait, eachWait } from "./each_wait";

const MOST_WAITS = 5_000;

// The first waits of all threads, with the steps of the run.
export function useEachWait(session: string) {
  const tracks = useApi(sessionPath(session, "/tracks")).data?.tracks;
  const iterations = useSection(session, "iterations").data;
  const ids = tracks?.filter(({ kind }) => kind === "waits").map(({ id }) => id) ?? [];
  const page = useApi(
    sessionPath(session, "/events"),
    { tracks: ids.join(","), limit: MOST_WAITS },
    { enabled: ids.length > 0 },
  );
  const found = useMemo(() => {
    if (page.data === undefined || iterations === undefined) return undefined;
    const steps = isUnknown(iterations) ? [] : iterations.list;
    return {
      waits: eachWait(page.data.events, steps),
      steps,
      isWhole: page.data.next_from === null,
    };
  }, [page.data, iterations]);
  return { page, found };
}

const COLUMNS: Column<EachWait>[] = [
  {
    key: "start",
    savedAs: "start_ns",
    title: "Begins at",
    value: ({ start_ns }) => start_ns,
    cell: ({ start_ns }) => exactTime(start_ns),
    isNumber: true,
    width: "minmax(130px, 1fr)",
  },
  { key: "call", title: "Call", value: ({ call }) => call, width: "minmax(180px, 3fr)" },
  {
    key: "step",
    title: "Step",
    value: ({ step }) => step,
    cell: ({ step }) =>
      step === null ? <span title="Outside of every step">{UNKNOWN}</span> : count(step),
    isNumber: true,
  },
  {
    key: "blocked",
    savedAs: "blocked_ns",
    title: "Blocked",
    value: ({ duration_ns }) => duration_ns,
    cell: ({ duration_ns }) => timeCell(duration_ns),
    isNumber: true,
  },
];

export function WaitList({
  session,
  of,
  call,
}: {
  session: string;
  of: ReturnType<typeof useEachWait>;
  // Of this call alone; null: of all.
  call: string | null;
}) {
  const addressOf = ({ event, start_ns, duration_ns }: EachWait) =>
    sessionAddress(
      session,
      event === null
        ? `timeline?from=${start_ns}&to=${start_ns + Math.max(duration_ns, 1)}`
        : `timeline?event=${encodeURIComponent(event)}`,
    );
  return (
    <Panel
      title="Waits one by one"
      note={
        of.found?.isWhole === false
          ? `the first ${count(MOST_WAITS)}; the timeline has all`
          : "click one to see it on the timeline"
      }
      actions={
        call !== null && (
          <button className="text-button" onClick={() => setViewParameters({ call: null })}>
            All calls
          </button>
        )
      }
    >
      <Ready of={of.page} rows={4}>
        {() => (
          <DataTable
            rows={(of.found?.waits ?? []).filter((wait) => call === null || wait.call === call)}
            columns={COLUMNS}
            rowKey={({ event, start_ns }, i) => event ?? `${start_ns}-${i}`}
            name="waits"
            sortedBy="start"
            isAscending
            maxRows={12}
            addressOf={addressOf}
          />
        )}
      </Ready>
    </Panel>
  );
}
