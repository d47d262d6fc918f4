// SPDX-License-Identifier: Apache-2.0
// A time in a column: its point stands below that of the time above; every nanosecond on hover.
import type { ReactNode } from "react";
import { columnTime, exactTime, UNKNOWN } from "../base/format";
import "./time_cell.css";

export function timeCell(ns: number | null | undefined, hint?: string): ReactNode {
  if (ns === null || ns === undefined) return <span title={hint}>{UNKNOWN}</span>;
  const { value, unit } = columnTime(ns);
  return (
    <span className="time-cell" title={hint ?? exactTime(Math.round(ns))}>
      {value} <i>{unit}</i>
    </span>
  );
}
