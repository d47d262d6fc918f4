// SPDX-License-Identifier: Apache-2.0
// Copies a table and saves it; at the end of the panel's header, where the table is in a panel.
import { useContext } from "react";
import { createPortal } from "react-dom";
import { save, toCsv } from "../base/save";
import { PanelTools, useCopy } from "./parts";
import "./table.css";

const COPY_WORDS = { "": "Copy", copied: "Copied", "cannot copy": "Cannot copy" };

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
  const { said, copy } = useCopy();
  const tools = (
    <>
      <button
        className="link"
        title="Copy the table, for a spreadsheet"
        onClick={() => copy(toCsv(table(), "\t"))}
      >
        <span aria-live="polite">{COPY_WORDS[said]}</span>
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
