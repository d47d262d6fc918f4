// SPDX-License-Identifier: Apache-2.0
// All kernels of a session in one table, in groups of the reader's choice.
import { useMemo, useRef } from "react";
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import { setViewParameters, useViewParameter } from "../../base/address";
import { count, duration, plural, sentence } from "../../base/format";
import { useKeys } from "../../base/keys";
import { useMedia } from "../../base/media";
import { Kbd, Panel } from "../../widgets/parts";
import { Empty, Failed, Ready, Skeleton } from "../../widgets/states";
import { GroupKernels } from "./group_kernels";
import {
  filterRows,
  type GroupBy,
  GROUPINGS,
  groupParameter,
  rowsBy,
  splitSection,
  whyNot,
} from "./groups";
import { KernelTable } from "./kernel_table";
import { WithCode } from "./with_code";
import "./kernels.css";

const NARROW = "(max-width: 1100px)";

function GroupChoice({ by, reasonOf }: { by: GroupBy; reasonOf: (by: GroupBy) => string | null }) {
  return (
    <div className="kernels-groups" role="group" aria-label="Group by">
      {GROUPINGS.map(({ by: other, title }) => {
        const reason = reasonOf(other);
        return (
          <button
            key={other}
            className="btn"
            aria-pressed={by === other}
            aria-disabled={reason !== null}
            title={reason ?? `Group by ${title.toLowerCase()}`}
            onClick={() => {
              if (reason !== null) return;
              setViewParameters({ by: other === "name" ? null : other, group: null });
            }}
          >
            {title}
          </button>
        );
      })}
    </div>
  );
}

// Where there is no room for all columns: they scroll sideways.
function ColumnChoice({ hasAll }: { hasAll: boolean }) {
  return (
    <button
      className="link"
      aria-pressed={hasAll}
      title="Mean, distribution and launch configuration as well"
      onClick={() => setViewParameters({ columns: hasAll ? null : "all" })}
    >
      {hasAll ? "Fewer columns" : "All columns"}
    </button>
  );
}

export default function Kernels({ session }: { session: string }) {
  const list = useApi(sessionPath(session, "/kernels"), { limit: 10_000 });
  const loaded = useSection(session, "kernels");
  const { section, unknown } = splitSection(loaded);
  const [wanted] = useViewParameter("by");
  const [wantedGroup] = useViewParameter("group");
  const [filter, setFilter] = useViewParameter("q");
  const [wantedColumns] = useViewParameter("columns");
  const hasNoRoom = useMedia(NARROW);
  const isNarrow = hasNoRoom && wantedColumns !== "all";
  const find = useRef<HTMLInputElement>(null);
  const by = GROUPINGS.find((grouping) => grouping.by === wanted)?.by ?? "name";
  useKeys([{ keys: "/", what: "Filter kernels", run: () => find.current?.focus() }]);

  const rows = useMemo(() => rowsBy(by, list.data, section), [by, list.data, section]);
  const shown = useMemo(() => filterRows(rows, filter ?? ""), [rows, filter]);
  const group = groupParameter(by) === null ? null : wantedGroup;
  const whyNone = unknown
    ? [unknown.unknown, unknown.hint ?? ""].map(sentence).join(" ").trim()
    : null;
  const reasonOf = (other: GroupBy) =>
    whyNone !== null && other !== "name" ? whyNone : whyNot(section, other);
  const reason = reasonOf(by);
  const figures = by === "name" ? (list.data ?? section) : section;

  return (
    <Panel
      title="Kernels"
      note={
        figures &&
        whyNone === null &&
        `${duration(figures.total_ns)} in ${plural(figures.count, "launch", "launches")}, without copies and memsets`
      }
      actions={
        <label className="kernels-filter">
          <span className="visually-hidden">Filter kernels</span>
          <input
            ref={find}
            type="search"
            placeholder="Filter by name or class:copy"
            value={filter ?? ""}
            onChange={(event) => setFilter(event.target.value || null)}
            onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
          />
          <Kbd>/</Kbd>
        </label>
      }
    >
      <div className="kernels-bar">
        <GroupChoice by={by} reasonOf={reasonOf} />
        {hasNoRoom && <ColumnChoice hasAll={!isNarrow} />}
        <span className="grow" />
        {group === null && (
          <span className="faint num" aria-live="polite">
            {filter
              ? `${count(shown.length)} of ${plural(rows.length, "row")}`
              : plural(rows.length, "row")}
          </span>
        )}
      </div>
      {group !== null ? (
        <GroupKernels
          key={group}
          {...{ session, by, group, section, filter: filter ?? "", isNarrow }}
        />
      ) : by === "name" ? (
        <Ready of={list} rows={10}>
          {() => <KernelTable key={by} {...{ session, by, rows, shown, isNarrow, whyNone }} />}
        </Ready>
      ) : reason !== null && loaded.data ? (
        <Empty title="This session has no such grouping">
          <WithCode text={reason} />
        </Empty>
      ) : section ? (
        <KernelTable key={by} {...{ session, by, rows, shown, isNarrow, whyNone }} />
      ) : loaded.error ? (
        <Failed problem={loaded.error} retry={loaded.retry} />
      ) : (
        <Skeleton rows={10} />
      )}
    </Panel>
  );
}
