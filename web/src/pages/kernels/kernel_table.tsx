// SPDX-License-Identifier: Apache-2.0
// Kernels, or groups of them, as a table whose rows lead on.
import { useMemo } from "react";
import { setViewParameters } from "../../base/address";
import { Empty } from "../../widgets/states";
import { DataTable } from "../../widgets/table";
import { sessionAddress } from "../session_frame";
import { scaleOf } from "./distribution";
import { type GroupBy, type KernelRow, pathOfRow } from "./groups";
import { columnsFor } from "./kernel_columns";
import { WithCode } from "./with_code";

export function KernelTable(props: {
  session: string;
  by: GroupBy;
  rows: KernelRow[];
  shown: KernelRow[];
  isNarrow: boolean;
  // Why there is no GPU work; null: there may be some.
  whyNone: string | null;
  shareOf?: string;
}) {
  const { session, by, rows, shown, isNarrow, shareOf = "all kernels" } = props;
  const columns = useMemo(
    () =>
      columnsFor(by, {
        scale: scaleOf(rows.map((row) => row.time)),
        most: rows.reduce((most, row) => Math.max(most, row.share), 1e-9),
        isNarrow,
        shareOf,
      }),
    [by, rows, isNarrow, shareOf],
  );
  const addressOf = (row: KernelRow) => {
    const path = pathOfRow(by, row);
    return path === null ? null : sessionAddress(session, path);
  };
  if (rows.length === 0) {
    return (
      <Empty title="No kernel was recorded">
        <WithCode text={props.whyNone ?? "The program launched none while it was recorded."} /> To
        record kernels: <code>gpufl trace -- python train.py</code>
      </Empty>
    );
  }
  if (shown.length === 0) {
    return (
      <Empty title="No kernel fits the filter">
        <button className="btn" onClick={() => setViewParameters({ q: null })}>
          Clear the filter
        </button>
      </Empty>
    );
  }
  return (
    <DataTable
      rows={shown}
      columns={columns}
      rowKey={(row) => row.id}
      name="kernels"
      fileName={`kernels-${session}`}
      sortedBy="total"
      maxRows={23}
      addressOf={addressOf}
    />
  );
}
