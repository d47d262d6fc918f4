// SPDX-License-Identifier: Apache-2.0
// A table that sorts, filters, is copied and saved, and holds a million rows: those in view are drawn.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useId, useMemo, useRef, useState } from "react";
import { navigate, useViewParameter } from "../base/address";
import { openByKey, RowLink, rowHandlers } from "./row_link";
import { readSort, sortRows, type Value, writeSort } from "./table_sort";
import { TableTools } from "./table_tools";
import "./table.css";

export interface Column<Row> {
  key: string;
  title: ReactNode;
  // What it is sorted by and saved as.
  value: (row: Row) => Value;
  // What its column is called in files, where the unit has to be told: "total_ns".
  savedAs?: string;
  // What is shown, where that differs.
  cell?: (row: Row) => ReactNode;
  isNumber?: boolean;
  // As CSS of a grid: "minmax(200px, 3fr)".
  width?: string;
  hint?: string;
}

export interface TableProps<Row> {
  rows: Row[];
  columns: Column<Row>[];
  rowKey: (row: Row, index: number) => string;
  // For screen readers, the address, and files that are saved.
  name: string;
  // Where files have another.
  fileName?: string;
  sortedBy?: string;
  isAscending?: boolean;
  // Where a row leads, as "/s/ID/kernels/NAME"; null: nowhere.
  addressOf?: (row: Row) => string | null;
  // What a click does, where that is not to go there.
  onOpen?: (row: Row) => void;
  isSelected?: (row: Row) => boolean;
  // Rows in view at the most; the rest scrolls.
  maxRows?: number;
}

const ROW_PX = 28;

export function DataTable<Row>(props: TableProps<Row>) {
  const { rows, columns, name, addressOf, onOpen, maxRows = 18 } = props;
  const [linked, setLinked] = useViewParameter("sort");
  const keys = columns.map(({ key }) => key);
  const { by, isAscending } = readSort(linked, name, keys) ?? {
    by: props.sortedBy,
    isAscending: props.isAscending ?? false,
  };
  const id = useId();
  const [chosen, setChosen] = useState(0);
  const [hasFocus, setHasFocus] = useState(false);
  const scroll = useRef<HTMLDivElement>(null);
  const sorted = useMemo(() => {
    const column = columns.find(({ key }) => key === by);
    return column ? sortRows(rows, column.value, isAscending) : rows;
  }, [rows, columns, by, isAscending]);
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    initialRect: { width: 800, height: maxRows * ROW_PX },
  });
  const grid = {
    gridTemplateColumns: columns.map((c) => c.width ?? "minmax(86px, 1fr)").join(" "),
  };

  // Rows that open are chosen by keys, which only a grid has.
  const opens = onOpen !== undefined || addressOf !== undefined;
  const hrefOf = (row: Row) => {
    const address = addressOf?.(row) ?? null;
    return address === null ? null : `#${address}`;
  };
  const open = (row: Row) => {
    const address = addressOf?.(row) ?? null;
    if (onOpen) onOpen(row);
    else if (address !== null) navigate(address);
  };
  const heads = columns.map(({ key, savedAs }) => savedAs ?? key);
  const table = () => [heads, ...sorted.map((row) => columns.map((column) => column.value(row)))];
  const sortBy = ({ key, isNumber }: Column<Row>) => {
    const next = { by: key, isAscending: by === key ? !isAscending : !isNumber };
    setLinked(writeSort(linked, name, next));
  };
  const onKey = (event: KeyboardEvent) => {
    // What has the focus inside of it acts for itself.
    if (event.target !== scroll.current) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: maxRows, PageUp: -maxRows }[event.key];
    if (step !== undefined) {
      const next = Math.min(Math.max(chosen + step, 0), sorted.length - 1);
      setChosen(next);
      virtual.scrollToIndex(next);
      event.preventDefault();
    }
    const row = sorted[chosen];
    if (event.key === "Enter" && row !== undefined && opens) {
      openByKey(event, hrefOf(row), () => open(row));
    }
  };

  const isActive = opens && chosen < sorted.length;
  return (
    <div className="data-table">
      <TableTools name={props.fileName ?? name} table={table} rows={rows} />
      <div
        ref={scroll}
        className="table-scroll"
        role={opens ? "grid" : "table"}
        aria-label={name}
        aria-activedescendant={isActive ? `${id}-${chosen}` : undefined}
        aria-rowcount={sorted.length + 1}
        tabIndex={0}
        onKeyDown={onKey}
        onFocus={() => setHasFocus(true)}
        onBlur={() => setHasFocus(false)}
        style={{ maxHeight: (maxRows + 1) * ROW_PX + 2 }}
      >
        <div className="table-head" role="row" style={grid}>
          {columns.map((column) => (
            <span
              key={column.key}
              role="columnheader"
              aria-sort={by !== column.key ? "none" : isAscending ? "ascending" : "descending"}
              className={column.isNumber ? "number" : ""}
              title={column.hint}
            >
              <button
                onClick={() => sortBy(column)}
                aria-label={column.title === "" ? column.key : undefined}
              >
                {column.title}
                {by === column.key && (isAscending ? " ↑" : " ↓")}
              </button>
            </span>
          ))}
        </div>
        <div style={{ height: virtual.getTotalSize(), position: "relative" }} role="rowgroup">
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = sorted[index] as Row;
            const isSelected = props.isSelected?.(row) ?? false;
            const href = hrefOf(row);
            const leads = opens && (href !== null || onOpen !== undefined);
            const isOn = isSelected || (opens && hasFocus && index === chosen);
            return (
              <div
                key={props.rowKey(row, index)}
                id={`${id}-${index}`}
                role="row"
                aria-rowindex={index + 2}
                aria-selected={opens && props.isSelected ? isSelected : undefined}
                className={`table-row${isOn ? " on" : ""}${leads ? " opens" : ""}${
                  index === sorted.length - 1 ? " last" : ""
                }`}
                style={{ ...grid, transform: `translateY(${start}px)` }}
                onMouseDown={() => setChosen(index)}
                {...(leads ? rowHandlers(href, () => open(row)) : {})}
              >
                {columns.map((column, at) => (
                  <span
                    key={column.key}
                    role={opens ? "gridcell" : "cell"}
                    className={column.isNumber ? "number" : ""}
                  >
                    <RowLink href={at === 0 ? href : null}>
                      {column.cell ? column.cell(row) : column.value(row)}
                    </RowLink>
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
