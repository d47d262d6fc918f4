// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "react";
import { type Loaded, useApi } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { Stats, TrackInfo } from "../../api/types";
import { navigate } from "../../base/address";
import { count, percent } from "../../base/format";
import { Panel } from "../../widgets/parts";
import { Empty, Failed, Skeleton } from "../../widgets/states";
import { sessionAddress } from "../session_frame";
import { kernelTracks, launchesIn, type Launch, slicesOf, thin } from "./launches";
import { Scatter } from "./scatter";

function useSlice(
  session: string,
  tracks: TrackInfo[],
  slice: { from: number; to: number } | undefined,
) {
  return useApi(
    sessionPath(session, "/tiles"),
    {
      tracks: tracks.map(({ id }) => id).join(","),
      from: slice?.from,
      to: slice?.to,
      // The finer the steps, the more the answer prefers events to sums.
      width: 16_384,
      max_events: 100_000,
    },
    { enabled: slice !== undefined },
  );
}

export interface Launches {
  launches: Launch[];
  // Of the time, that they were taken from.
  share: number;
  isWhole: boolean;
  state: Loaded<unknown>;
}

// Up to four stretches; their number is fixed because hooks are.
export function useLaunches(session: string, kernel: string): Launches {
  const loaded = useApi(sessionPath(session, "/tracks"));
  const tracks = useMemo(() => kernelTracks(loaded.data?.tracks ?? []), [loaded.data]);
  const { slices, share } = useMemo(() => slicesOf(tracks), [tracks]);
  const a = useSlice(session, tracks, slices[0]);
  const b = useSlice(session, tracks, slices[1]);
  const c = useSlice(session, tracks, slices[2]);
  const d = useSlice(session, tracks, slices[3]);
  const found = useMemo(
    () =>
      [a.data, b.data, c.data, d.data].flatMap((tiles) =>
        tiles ? [launchesIn(tiles, kernel)] : [],
      ),
    [a.data, b.data, c.data, d.data, kernel],
  );
  const launches = useMemo(() => found.flatMap((part) => part.launches), [found]);
  const isWhole = share === 1 && found.every((part) => part.isWhole);
  const state = loaded.data && slices.length > 0 ? a : loaded;
  return { launches, share, isWhole, state };
}

export function LaunchesPanel({
  session,
  of,
  time,
}: {
  session: string;
  of: Launches;
  time: Stats;
}) {
  const { launches, share, state } = of;
  const shown = useMemo(() => thin(launches), [launches]);
  const note =
    share < 1
      ? `${count(launches.length)} launches, of ${percent(share)} of the time`
      : shown.length < launches.length
        ? `${count(shown.length)} of ${count(launches.length)}, the longest among them`
        : "";
  return (
    <Panel title="Launches over time" note={note}>
      {shown.length > 0 ? (
        <Scatter
          launches={shown}
          p99={time.p99}
          onOpen={({ event }) =>
            navigate(sessionAddress(session, `timeline?event=${encodeURIComponent(event)}`))
          }
        />
      ) : state.error ? (
        <Failed problem={state.error} retry={state.retry} />
      ) : state.data === undefined ? (
        <Skeleton rows={6} />
      ) : (
        <Empty title="No launch to draw">
          {share < 1
            ? "The stretches that were looked at have none; the timeline shows all of them."
            : "The timeline has no launch of this kernel."}
        </Empty>
      )}
    </Panel>
  );
}
