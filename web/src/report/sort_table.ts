// SPDX-License-Identifier: Apache-2.0
// Tables that are sorted by pressing a heading.

const UNITS: Record<string, number> = {
  ns: 1e-9,
  us: 1e-6,
  ms: 1e-3,
  s: 1,
  min: 60,
  h: 3600,
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  k: 1e3,
  M: 1e6,
  G: 1e9,
};

// What a cell says, as a number where it is one: "12.34 ms", "1,024", "1.5 GiB", "12%".
export function valueOf(text: string): number | string {
  const match = /^(-?[\d,]*\.?\d+)\s*([A-Za-z]*)/.exec(text.trim());
  if (!match) return text;
  return Number(match[1]!.replaceAll(",", "")) * (UNITS[match[2]!] ?? 1);
}

export function compareCells(a: string, b: string): number {
  const [x, y] = [valueOf(a), valueOf(b)];
  if (typeof x === "number" && typeof y === "number") return x - y;
  return String(x).localeCompare(String(y), "en", { numeric: true });
}

function sort(table: HTMLTableElement, column: number): void {
  const headings = [...table.tHead!.rows[0]!.cells];
  const isUp = headings[column]!.getAttribute("aria-sort") === "descending";
  for (const cell of headings) cell.removeAttribute("aria-sort");
  headings[column]!.setAttribute("aria-sort", isUp ? "ascending" : "descending");
  const body = table.tBodies[0]!;
  const text = (row: HTMLTableRowElement) => row.cells[column]?.textContent ?? "";
  const rows = [...body.rows].sort((a, b) => {
    const order = compareCells(text(a), text(b));
    return isUp ? order : -order;
  });
  body.append(...rows);
}

export function makeSortable(table: HTMLTableElement): void {
  [...table.tHead!.rows[0]!.cells].forEach((cell, column) => {
    cell.tabIndex = 0;
    cell.addEventListener("click", () => sort(table, column));
    cell.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort(table, column);
    });
  });
}
