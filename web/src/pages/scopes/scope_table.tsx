// SPDX-License-Identifier: Apache-2.0
// The tree of scopes with their figures. Left and right fold, Enter opens.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import type { Scope } from "../../api/types";
import { count, isUnknown, plain, type Unknown, UNKNOWN } from "../../base/format";
import { openByKey, RowLink, rowHandlers } from "../../widgets/row_link";
import { TableTools } from "../../widgets/table_tools";
import { timeCell } from "../../widgets/time_cell";
import { type ScopeKey, type ScopeRow, valueOf, workOf } from "./scope_tree";

const ROW_PX = 28;
const MOST_ROWS = 16;

interface ScopeColumn {
  key: ScopeKey;
  title: string;
  hint: string;
  cell: (scope: Scope) => ReactNode;
}

export function unknownCell(
  value: number | Unknown | undefined,
  format: (value: number) => string,
) {
  if (typeof value === "number") return format(value);
  const why = isUnknown(value) ? value.unknown : undefined;
  return <span title={why}>{UNKNOWN}</span>;
}

function workCell(
  work: Scope["own"],
  pick: (known: NonNullable<ReturnType<typeof workOf>>) => ReactNode,
) {
  const known = workOf(work);
  if (known) return pick(known);
  return <span title={isUnknown(work) ? work.unknown : undefined}>{UNKNOWN}</span>;
}

function atLeast(scope: Scope, text: string): string {
  return scope.is_lower_bound ? `≥ ${text}` : text;
}

const COLUMNS: ScopeColumn[] = [
  {
    key: "count",
    title: "Count",
    hint: "How often it was entered",
    cell: (scope) => atLeast(scope, count(scope.duration_ns.count)),
  },
  {
    key: "wall",
    title: "Wall time",
    hint: "How long it was open, on all threads",
    cell: (scope) => (
      <>
        {scope.is_lower_bound && "≥ "}
        {timeCell(scope.duration_ns.total)}
      </>
    ),
  },
  {
    key: "gpu",
    title: "GPU time",
    hint: "Of kernels, copies and memsets launched in it and in the scopes inside it",
    cell: ({ total }) => workCell(total, ({ gpu_ns }) => timeCell(gpu_ns)),
  },
  {
    key: "own",
    title: "GPU, own",
    hint: "Of the work launched directly in it",
    cell: ({ own }) => workCell(own, ({ gpu_ns }) => timeCell(gpu_ns)),
  },
  {
    key: "kernels",
    title: "Kernels",
    hint: "Launched in it and in the scopes inside it",
    cell: ({ total }) => workCell(total, ({ kernels }) => count(kernels)),
  },
  {
    key: "waits",
    title: "Waiting",
    hint: "How long the host was blocked for the GPU in it",
    cell: ({ total }) => workCell(total, ({ wait_ns }) => timeCell(wait_ns)),
  },
  {
    key: "energy",
    title: "Energy",
    hint: "Of all sampled GPUs while it was open",
    cell: ({ energy_joules }) => unknownCell(energy_joules, (value) => `${plain(value)} J`),
  },
];

// Values that have a unit name it in files.
const SAVED_AS: Partial<Record<ScopeKey, string>> = {
  wall: "wall_ns",
  gpu: "gpu_ns",
  own: "own_gpu_ns",
  waits: "wait_ns",
  energy: "energy_joules",
};

export function ScopeTable({
  rows,
  sortedBy,
  onSort,
  onFold,
  chosen,
  addressOf,
  onOpen,
}: {
  rows: ScopeRow[];
  sortedBy: ScopeKey;
  onSort: (key: ScopeKey) => void;
  onFold: (path: string, isOpen: boolean) => void;
  chosen: string | null;
  addressOf: (path: string) => string;
  onOpen: (path: string) => void;
}) {
  const scroll = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const id = useId();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    initialRect: { width: 800, height: MOST_ROWS * ROW_PX },
  });
  const table = () => [
    ["path", ...COLUMNS.map(({ key }) => SAVED_AS[key] ?? key)],
    ...rows.map(({ scope }) => [scope.path, ...COLUMNS.map(({ key }) => valueOf(scope, key))]),
  ];
  const onKey = (event: KeyboardEvent) => {
    // What has the focus inside of it acts for itself.
    if (event.target !== scroll.current) return;
    const row = rows[at];
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: MOST_ROWS, PageUp: -MOST_ROWS }[event.key];
    if (step !== undefined) {
      const next = Math.min(Math.max(at + step, 0), rows.length - 1);
      setAt(next);
      virtual.scrollToIndex(next);
    } else if (row && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      if (row.hasChildren) onFold(row.scope.path, event.key === "ArrowRight");
    } else if (row && event.key === "Enter") {
      openByKey(event, `#${addressOf(row.scope.path)}`, () => onOpen(row.scope.path));
    } else return;
    event.preventDefault();
  };
  return (
    <div className="data-table">
      <TableTools name="scopes" table={table} rows={rows.map(({ scope }) => scope)} />
      <div
        ref={scroll}
        className="table-scroll"
        role="treegrid"
        aria-label="Scopes"
        aria-rowcount={rows.length + 1}
        aria-activedescendant={at < rows.length ? `${id}-${at}` : undefined}
        tabIndex={0}
        onKeyDown={onKey}
        style={{ maxHeight: (MOST_ROWS + 1) * ROW_PX + 2 }}
      >
        <div className="table-head scope-grid" role="row">
          <span role="columnheader" aria-sort={sortedBy === "name" ? "ascending" : "none"}>
            <button onClick={() => onSort("name")}>Scope{sortedBy === "name" && " ↑"}</button>
          </span>
          {COLUMNS.map(({ key, title, hint }) => (
            <span
              key={key}
              role="columnheader"
              className="number"
              title={hint}
              aria-sort={sortedBy === key ? "descending" : "none"}
            >
              <button onClick={() => onSort(key)}>
                {title}
                {sortedBy === key && " ↓"}
              </button>
            </span>
          ))}
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const { scope, hasChildren, isOpen } = rows[index] as ScopeRow;
            const name = scope.path.split(" > ").at(-1) ?? scope.name;
            const href = `#${addressOf(scope.path)}`;
            return (
              <div
                key={scope.path}
                id={`${id}-${index}`}
                role="row"
                aria-level={scope.depth + 1}
                aria-rowindex={index + 2}
                aria-selected={scope.path === chosen}
                {...(hasChildren ? { "aria-expanded": isOpen } : {})}
                className={`table-row scope-grid opens${scope.path === chosen ? " on" : ""}${index === at ? " scope-at" : ""}${index === rows.length - 1 ? " last" : ""}`}
                style={{ transform: `translateY(${start}px)` }}
                onMouseDown={() => setAt(index)}
                {...rowHandlers(href, () => onOpen(scope.path))}
              >
                <span
                  role="gridcell"
                  title={scope.path}
                  style={{ paddingLeft: 14 + scope.depth * 16 }}
                >
                  {hasChildren ? (
                    <button
                      className="scope-fold"
                      tabIndex={-1}
                      aria-label={isOpen ? `Fold ${name}` : `Unfold ${name}`}
                      onClick={(event) => {
                        event.stopPropagation();
                        onFold(scope.path, !isOpen);
                      }}
                    >
                      {isOpen ? "▾" : "▸"}
                    </button>
                  ) : (
                    <i className="scope-leaf" />
                  )}
                  <RowLink href={href}>{name}</RowLink>
                </span>
                {COLUMNS.map(({ key, cell }) => (
                  <span key={key} role="gridcell" className="number">
                    {cell(scope)}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
