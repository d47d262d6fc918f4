// SPDX-License-Identifier: Apache-2.0
// Columns of the table of kernels, by what it is grouped by and how wide the page is.
import { count, duration, percent, shownName } from "../../base/format";
import { classVariable } from "../../base/kernel_class";
import { Bar, Swatch } from "../../widgets/parts";
import type { Column } from "../../widgets/table";
import type { Scale } from "./distribution";
import { DistributionSketch } from "./distribution_sketch";
import { configText, type GroupBy, GROUPINGS, type KernelRow } from "./groups";
import { limitWords } from "./occupancy";

const time = (key: "mean" | "median" | "p99", title: string): Column<KernelRow> => ({
  key,
  title,
  isNumber: true,
  width: "minmax(92px, 0.8fr)",
  value: (row) => row.time[key] ?? null,
  cell: (row) => duration(row.time[key]),
});

const LEAST_HEAD = 10;
const TAIL = 12;

// Many kernels begin alike: where there is no room, the middle gives way.
function KernelName({ label }: { label: string }) {
  const brackets = label.search(/[<[]/);
  const at = brackets >= 0 ? brackets : label.length - TAIL;
  if (at < LEAST_HEAD) return <span className="kernels-tail">{label}</span>;
  return (
    <>
      <span className="kernels-head">{label.slice(0, at)}</span>
      <span className="kernels-tail">{label.slice(at)}</span>
    </>
  );
}

export interface ColumnsOf {
  scale: Scale;
  // The largest share: the longest bar.
  most: number;
  isNarrow: boolean;
  // What shares are of the time of.
  shareOf: string;
}

export function columnsFor(
  by: GroupBy,
  { scale, most, isNarrow, shareOf }: ColumnsOf,
): Column<KernelRow>[] {
  const hasKernels = by === "name" || by === "config";
  const all: (Column<KernelRow> | false)[] = [
    {
      key: "name",
      title: GROUPINGS.find((grouping) => grouping.by === by)!.title,
      width: isNarrow ? "minmax(200px, 4fr)" : "minmax(260px, 4fr)",
      value: (row) => row.label,
      cell: (row) => (
        <span title={row.fullName} className={row.isRest ? "kernels-name faint" : "kernels-name"}>
          {row.kernelClass !== null && (
            <span title={row.kernelClass}>
              <Swatch color={classVariable(row.kernelClass)} />
            </span>
          )}
          <KernelName label={shownName(row.label)} />
        </span>
      ),
    },
    {
      key: "count",
      title: "Count",
      isNumber: true,
      width: "minmax(70px, 0.6fr)",
      value: (row) => row.time.count,
      cell: (row) => count(row.time.count),
    },
    {
      key: "total",
      title: "Total",
      isNumber: true,
      width: "minmax(92px, 0.8fr)",
      value: (row) => row.time.total,
      cell: (row) => duration(row.time.total),
    },
    {
      key: "share",
      title: "Share",
      width: isNarrow ? "minmax(76px, 1fr)" : "minmax(120px, 1fr)",
      hint: `Of the time of ${shareOf}; the longest bar is the largest share`,
      value: (row) => row.share,
      cell: (row) => (
        <span className="kernels-share">
          <span className="num">{percent(row.share)}</span>
          <Bar share={row.share / most} color={classVariable(row.kernelClass ?? undefined)} />
        </span>
      ),
    },
    !isNarrow && time("mean", "Mean"),
    time("median", "Median"),
    time("p99", "p99"),
    !isNarrow && {
      key: "distribution",
      title: "Distribution",
      width: "minmax(130px, 1fr)",
      hint: `From ${duration(scale.low)} to ${duration(scale.high)}, logarithmic: line from shortest to longest, box from median to p90, tick at p99`,
      value: (row) => row.time.max ?? null,
      cell: (row) => (
        <DistributionSketch
          time={row.time}
          scale={scale}
          color={classVariable(row.kernelClass ?? undefined)}
        />
      ),
    },
    hasKernels &&
      !isNarrow && {
        key: "config",
        title: "Launched as",
        width: "minmax(130px, 1fr)",
        hint: "Blocks of threads, of the configuration with the most time",
        value: (row) => (row.config ? configText(row.config) : null),
        cell: (row) =>
          row.config ? (
            <>
              {configText(row.config)}
              {row.configs > 1 && <span className="faint"> +{row.configs - 1}</span>}
            </>
          ) : (
            <span className="faint">–</span>
          ),
      },
    hasKernels && {
      key: "occupancy",
      title: "Occupancy",
      width: "minmax(136px, 1fr)",
      hint: "Theoretical: how much of a multiprocessor's warps fit, and what limits it",
      value: (row) => row.config?.occupancy ?? null,
      cell: (row) =>
        row.config && row.config.occupancy !== null ? (
          <>
            <span className="num">{percent(row.config.occupancy)}</span>{" "}
            <span className="faint">{limitWords(row.config.occupancy_bound)}</span>
          </>
        ) : (
          <span className="faint" title="The occupancy of this kernel was not recorded">
            –
          </span>
        ),
    },
  ];
  return all.filter((column) => column !== false);
}
