// SPDX-License-Identifier: Apache-2.0
// Columns of the table of kernels, by what it is grouped by and how wide the page is.
import { count, duration, percent, plural, shownName } from "../../base/format";
import { classVariable } from "../../base/kernel_class";
import { Bar, Swatch } from "../../widgets/parts";
import type { Column } from "../../widgets/table";
import { timeCell } from "../../widgets/time_cell";
import type { Scale } from "./distribution";
import { DistributionSketch } from "./distribution_sketch";
import { configText, configWords, type GroupBy, GROUPINGS, type KernelRow } from "./groups";
import { limitedBy } from "./occupancy";

const timeWidth = (isNarrow: boolean) => (isNarrow ? "88px" : "minmax(100px, 0.8fr)");

const time = (
  key: "mean" | "median" | "p99",
  title: string,
  isNarrow: boolean,
): Column<KernelRow> => ({
  key,
  title,
  savedAs: `${key}_ns`,
  isNumber: true,
  width: timeWidth(isNarrow),
  value: (row) => row.time[key] ?? null,
  cell: (row) => timeCell(row.time[key]),
});

function configsHint({ config, configs }: KernelRow): string | undefined {
  if (config === null) return undefined;
  const others = configs - 1;
  const more = plural(others, "other configuration", "other configurations");
  return others > 0 ? `${configWords(config)}, and ${more}` : configWords(config);
}

const LEAST_HEAD = 10;
const TAIL = 12;

// Many kernels begin alike: where there is no room, the middle gives way.
function KernelName({ label }: { label: string }) {
  const brackets = label.search(/[<[]/);
  const at = brackets >= 0 ? brackets : label.length - TAIL;
  // What tells it from another of the same name stands last: "vectorized<MulFunctor> [4, half]".
  const twin = label.endsWith("]") ? label.lastIndexOf(" [") : -1;
  const end = twin > at ? twin : label.length;
  if (at < LEAST_HEAD) return <span className="kernels-last">{label}</span>;
  return (
    <>
      <span className="kernels-first">
        <span className="kernels-first">{label.slice(0, at)}</span>
        <span className="kernels-last">{label.slice(at, end)}</span>
      </span>
      {end < label.length && <span className="kernels-last">{label.slice(end)}</span>}
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
      width: isNarrow ? "minmax(184px, 4fr)" : "minmax(236px, 4fr)",
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
      width: isNarrow ? "72px" : "minmax(104px, 0.6fr)",
      value: (row) => row.time.count,
      cell: (row) => count(row.time.count),
    },
    {
      key: "total",
      savedAs: "total_ns",
      title: "Total",
      isNumber: true,
      width: timeWidth(isNarrow),
      value: (row) => row.time.total,
      cell: (row) => timeCell(row.time.total),
    },
    {
      key: "share",
      title: "Share",
      width: isNarrow ? "68px" : "minmax(120px, 1fr)",
      hint: `Of the time of ${shareOf}; the longest bar is the largest share`,
      value: (row) => row.share,
      cell: (row) => (
        <span className="kernels-share">
          <span className="num">{percent(row.share)}</span>
          <Bar share={row.share / most} color={classVariable(row.kernelClass ?? undefined)} />
        </span>
      ),
    },
    !isNarrow && time("mean", "Mean", isNarrow),
    time("median", "Median", isNarrow),
    time("p99", "p99", isNarrow),
    !isNarrow && {
      key: "distribution",
      // The longest launch is what it is sorted by.
      savedAs: "max_ns",
      title: "Distribution",
      width: "minmax(104px, 1fr)",
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
            <span className="kernels-config" title={configsHint(row)}>
              <span>{configText(row.config)}</span>
              {row.configs > 1 && <span className="faint">+{row.configs - 1}</span>}
            </span>
          ) : (
            <span className="faint">–</span>
          ),
      },
    hasKernels && {
      key: "occupancy",
      title: "Occupancy",
      width: isNarrow ? "138px" : "minmax(152px, 1fr)",
      hint: "Theoretical: how much of a multiprocessor's warps fit, and what limits it",
      value: (row) => row.config?.occupancy ?? null,
      cell: (row) =>
        row.config && row.config.occupancy !== null ? (
          <>
            <span className="num">{percent(row.config.occupancy)}</span>{" "}
            <span className="faint">{limitedBy(row.config)}</span>
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
