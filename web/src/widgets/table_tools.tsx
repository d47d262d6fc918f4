// SPDX-License-Identifier: Apache-2.0
// Copies a table and saves it; at the end of the panel's header, where the table is in a panel.
import { useContext } from "react";
import { createPortal } from "react-dom";
import { copyText } from "../base/clipboard";
import { save, toCsv } from "../base/save";
import { PanelTools } from "./parts";
import "./table.css";

export function TableTools({
  name,
  table,
  rows,
}: {
  // Of files.
  name: string;
  // As it is shown, the names of columns first.
  table: () => (string | number | null)[][];
  // All that is known of them.
  rows: unknown[];
}) {
  const header = useContext(PanelTools);
  const tools = (
    <>
      <button
        className="link"
        title="Copy the table, for a spreadsheet"
        onClick={() => void copyText(toCsv(table(), "\t"))}
      >
        Copy
      </button>
      <button
        className="link"
        title="Save the table as CSV"
        onClick={() => save(`${name}.csv`, toCsv(table()), "text/csv")}
      >
        CSV
      </button>
      <button
        className="link"
        title="Save all that is known of the rows as JSON"
        onClick={() => save(`${name}.json`, JSON.stringify(rows), "application/json")}
      >
        JSON
      </button>
    </>
  );
  return header ? createPortal(tools, header) : <div className="table-tools">{tools}</div>;
}
