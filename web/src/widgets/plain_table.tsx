// SPDX-License-Identifier: Apache-2.0
// A short table inside of something else: as it is given, and still copied and saved.
import type { ReactNode } from "react";
import type { Column } from "./table";
import { TableTools } from "./table_tools";
import "./plain_table.css";

export function PlainTable<Row>({
  name,
  rows,
  columns,
  rowKey,
  rest,
}: {
  // Of files.
  name: string;
  rows: Row[];
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  // Below them, a cell for each column: what is left out, in one row.
  rest?: ReactNode[];
}) {
  const table = () => [
    columns.map(({ key, savedAs }) => savedAs ?? key),
    ...rows.map((row) => columns.map(({ value }) => value(row))),
  ];
  const classOf = ({ isNumber }: Column<Row>) => (isNumber ? "num" : "");
  return (
    <div className="plain-table">
      <TableTools name={name} table={table} rows={rows} />
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.key} scope="col" className={classOf(column)} title={column.hint}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column) => (
                <td key={column.key} className={classOf(column)}>
                  {column.cell ? column.cell(row) : column.value(row)}
                </td>
              ))}
            </tr>
          ))}
          {rest && (
            <tr className="dim">
              {columns.map((column, i) => (
                <td key={column.key} className={classOf(column)}>
                  {rest[i]}
                </td>
              ))}
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
