// SPDX-License-Identifier: Apache-2.0
// Tracks in groups: GPUs with their streams, the process with its threads, warps of profiled
// kernels, readings. Pure.
import {
  type Description,
  type EventRef,
  kindOf,
  type SeriesInfo,
  type TrackInfo,
  type TrackKind,
} from "./types";
import { isMain, mainRank, metricLabel } from "./units";

export interface Leaf {
  id: string;
  label: string;
  // What the rows below have in common; it stands in front of the first of them.
  section: string;
  rows: number;
  track: TrackInfo | null;
  series: SeriesInfo | null;
}

export interface Group {
  id: string;
  title: string;
  note: string;
  // Closed until somebody opens it.
  startsClosed: boolean;
  leaves: Leaf[];
}

const ORDER: readonly TrackKind[] = [
  "graphs",
  "kernels",
  "copies",
  "fills",
  "scopes",
  "markers",
  "kernel_calls",
  "graph_calls",
  "copy_calls",
  "fill_calls",
  "memory_calls",
  "api_calls",
  "waits",
  "warps",
  "coverage",
];

const WORDS: Record<TrackKind, string> = {
  kernels: "kernels",
  copies: "copies",
  fills: "memsets",
  graphs: "graphs",
  kernel_calls: "launches",
  copy_calls: "copy calls",
  fill_calls: "memset calls",
  graph_calls: "graph launches",
  memory_calls: "memory calls",
  api_calls: "API calls",
  waits: "waits",
  scopes: "scopes",
  markers: "markers",
  warps: "warps",
  coverage: "recording",
};

export function kindWord(kind: TrackKind): string {
  return WORDS[kind];
}

// One of them; what an event is called that has no name of its own.
const ONE: Partial<Record<TrackKind, string>> = {
  kernels: "kernel",
  copies: "copy",
  graphs: "graph",
  kernel_calls: "launch",
  api_calls: "API call",
  waits: "wait",
  scopes: "scope",
  markers: "marker",
  warps: "warp",
  copy_calls: "copy call",
  fill_calls: "memset call",
  graph_calls: "graph launch",
  memory_calls: "memory call",
  fills: "memset",
};

export function eventWord(kind: TrackKind): string {
  return ONE[kind] ?? kindWord(kind);
}

// What a call did is not what the GPU did: "Launch of NAME".
export function eventTitle({ track, label }: Pick<EventRef, "track" | "label">): string {
  const kind = kindOf(track);
  return kind === "kernel_calls" && label !== eventWord(kind) ? `Launch of ${label}` : label;
}

// What it is, beside its title: the class of a kernel, or what it is one of where the title does not
// say it.
export function eventNote(event: Pick<EventRef, "track" | "label" | "kernelClass">): string {
  const kind = kindOf(event.track);
  const isClassed = kind === "kernels" || kind === "warps";
  if (isClassed && event.kernelClass !== undefined && event.kernelClass !== "other") {
    return event.kernelClass;
  }
  const isSaid = event.label === eventWord(kind) || eventTitle(event) !== event.label;
  return isSaid ? "" : eventWord(kind);
}

// What the length of one of them is called.
export function lengthWord(kind: TrackKind): string {
  return kind.endsWith("_calls") ? "call took" : "duration";
}

// Modules hold operators, as scopes hold both; of other domains people know the name.
const FRAMEWORK: readonly { ending: string; words: string }[] = [
  { ending: ".module", words: "modules" },
  { ending: ".op", words: "operators" },
];

function frameworkRank({ domain = "" }: Pick<TrackInfo, "domain">): number {
  const at = FRAMEWORK.findIndex(({ ending }) => domain.endsWith(ending));
  return at < 0 ? FRAMEWORK.length : at;
}

export function trackWords(track: Pick<TrackInfo, "kind" | "domain">): string {
  if (track.domain === undefined) return kindWord(track.kind);
  return FRAMEWORK[frameworkRank(track)]?.words ?? track.domain;
}

function leafOf(track: TrackInfo, section: string): Leaf {
  return {
    id: track.id,
    label: trackWords(track),
    section,
    rows: Math.max(track.rows, 1),
    track,
    series: null,
  };
}

function compareTracks(a: TrackInfo, b: TrackInfo): number {
  return ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || frameworkRank(a) - frameworkRank(b);
}

function inOrder(tracks: TrackInfo[]): TrackInfo[] {
  return tracks.sort(compareTracks);
}

// Where the program names its work is where people look first.
function rankOf(tracks: readonly TrackInfo[]): number {
  return tracks.some(({ kind }) => kind === "scopes") ? 0 : 1;
}

function by<Item, Key>(list: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

export function shortDevice(name: string): string {
  return name.replace(/^(NVIDIA|AMD|Intel(\(R\))?)\s+/i, "");
}

function gpuGroups({ tracks, devices }: Description): Group[] {
  const work = tracks.filter((track) => track.stream !== undefined && track.device !== undefined);
  const devicesOf = [...by(work, (track) => track.device!)].sort(([a], [b]) => a - b);
  return devicesOf.map(([device, ofDevice]) => {
    const contexts = new Set(ofDevice.map(({ context }) => context)).size;
    const streams = by(ofDevice, ({ context, stream }) =>
      contexts > 1 ? `stream ${stream} · context ${context}` : `stream ${stream}`,
    );
    const name = devices.find((entry) => entry.device === device)?.name;
    const title = device < 0 ? "GPU unknown" : `GPU ${device}`;
    return {
      id: `gpu:${device}`,
      title: name ? `${title} · ${shortDevice(name)}` : title,
      note: "",
      startsClosed: false,
      leaves: [...streams].flatMap(([section, list]) =>
        inOrder(list).map((t) => leafOf(t, section)),
      ),
    };
  });
}

// "autograd (2430)": programs name several threads alike.
function threadWords(thread: number, name: string | undefined): string {
  return name === undefined || name === "" ? `thread ${thread}` : `${name} (${thread})`;
}

function processGroup({ tracks, process }: Description): Group[] {
  const ofThreads = tracks.filter(({ thread }) => thread !== undefined);
  if (ofThreads.length === 0) return [];
  const threads = [...by(ofThreads, ({ thread }) => thread!)];
  threads.sort(([a, listA], [b, listB]) => rankOf(listA) - rankOf(listB) || a - b);
  return [
    {
      id: "process",
      title: process,
      note: "",
      startsClosed: false,
      leaves: threads.flatMap(([thread, list]) =>
        inOrder(list).map((track) => leafOf(track, threadWords(thread, track.thread_name))),
      ),
    },
  ];
}

// Streams and threads as the groups above have them, of a group whose rows come in another order.
export function leavesInOrder(leaves: readonly Leaf[]): Leaf[] {
  const sections = [...by(leaves, ({ section }) => section).values()];
  const tracksOf = (list: Leaf[]) => list.flatMap(({ track }) => track ?? []);
  sections.sort((a, b) => rankOf(tracksOf(a)) - rankOf(tracksOf(b)));
  return sections.flatMap((list) => list.sort((a, b) => compareTracks(a.track!, b.track!)));
}

function groupName({ launch, group = 0 }: TrackInfo, launches: Description["launches"]): string {
  const names = launches?.find((one) => one.launch === launch)?.groups;
  return names?.[group] || `group ${group}`;
}

// Many tracks of few events: closed, unless there is nothing else to look at.
function warpGroups({ tracks, launches }: Description): Group[] {
  const warps = tracks.filter(({ kind }) => kind === "warps");
  const isAll = warps.length === tracks.length;
  return [...by(warps, ({ launch }) => launch)].map(([launch, list], i) => ({
    id: `warps:${launch}`,
    title: launches?.find((one) => one.launch === launch)?.kernel || "Warps",
    note: `launch ${launch}`,
    startsClosed: !(isAll && i === 0),
    leaves: list.map((track) => ({
      ...leafOf(track, `block ${track.block}`),
      label: groupName(track, launches),
    })),
  }));
}

function coverageGroup({ tracks }: Description): Group[] {
  const list = tracks.filter(({ kind }) => kind === "coverage");
  if (list.length === 0) return [];
  const leaves = list.map((track) => ({ ...leafOf(track, ""), label: track.engine ?? "" }));
  return [{ id: "recording", title: "Recording", note: "", startsClosed: false, leaves }];
}

function seriesLeaf(series: SeriesInfo): Leaf {
  return {
    id: series.id,
    label: metricLabel(series.metric, series.index, series.kind),
    section: "",
    rows: 1,
    track: null,
    series,
  };
}

// Readings of GPUs and the host; counters are a matter of their own.
export function isReading({ kind }: SeriesInfo): boolean {
  return kind === "device_metric" || kind === "host_metric";
}

function readingGroups({ series, devices }: Description): Group[] {
  const groups: Group[] = [];
  const add = (id: string, title: string, startsClosed: boolean, list: SeriesInfo[]) => {
    if (list.length === 0) return;
    const note = startsClosed ? `${list.length} series` : "";
    groups.push({ id, title, note, startsClosed, leaves: list.map(seriesLeaf) });
  };
  const readings = series.filter(isReading);
  const main = readings.filter(({ metric, index }) => isMain(metric) && index === 0);
  main.sort((a, b) => mainRank(a.metric) - mainRank(b.metric));
  const several = devices.length > 1;
  const ofDevices = by(main, (entry) => (several ? (entry.device ?? -1) : 0));
  for (const [device, list] of ofDevices) {
    const title = !several ? "Health" : device < 0 ? "Health · host" : `Health · GPU ${device}`;
    add(`health:${device}`, title, false, list);
  }
  add(
    "health:more",
    "More readings",
    true,
    readings.filter((entry) => !main.includes(entry)),
  );
  const hardware = by(
    series.filter(({ kind }) => kind === "pm_sample"),
    (entry) => entry.device ?? 0,
  );
  for (const [device, list] of hardware) {
    const title =
      several || hardware.size > 1 ? `Hardware counters · GPU ${device}` : "Hardware counters";
    add(`hardware:${device}`, title, false, list);
  }
  add(
    "counters",
    "Counters",
    false,
    series.filter(({ kind }) => kind === "counter"),
  );
  return groups;
}

export function groupTracks(description: Description): Group[] {
  if (description.groups) return [...description.groups];
  return [
    ...gpuGroups(description),
    ...processGroup(description),
    ...warpGroups(description),
    ...coverageGroup(description),
    ...readingGroups(description),
  ];
}
