// SPDX-License-Identifier: Apache-2.0
// Tables as files.

type Cell = string | number | null;

// A text that a spreadsheet would take for a formula gets an apostrophe.
function csvCell(cell: Cell, separator: string): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  const needsQuotes = safe.includes(separator) || /["\r\n]/.test(safe);
  return needsQuotes ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function toCsv(rows: Cell[][], separator = ","): string {
  return (
    rows.map((row) => row.map((cell) => csvCell(cell, separator)).join(separator)).join("\n") + "\n"
  );
}

export function save(name: string, text: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name.replace(/[^A-Za-z0-9._-]+/g, "-");
  link.click();
  URL.revokeObjectURL(link.href);
}
