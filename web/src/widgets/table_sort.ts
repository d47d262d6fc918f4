// SPDX-License-Identifier: Apache-2.0
// What the tables of a page are sorted by, as its address has it: "kernels.-count,events.time", for
// each table its name and a column, with a minus where the largest comes first.

export interface Sort {
  by: string | undefined;
  isAscending: boolean;
}

function partsOf(text: string | null): [string, string][] {
  return (text ?? "").split(",").flatMap((part): [string, string][] => {
    const at = part.indexOf(".");
    return at > 0 ? [[part.slice(0, at), part.slice(at + 1)]] : [];
  });
}

export function readSort(
  text: string | null,
  table: string,
  columns: readonly string[],
): Sort | null {
  const found = partsOf(text).find(([name]) => name === table)?.[1];
  if (found === undefined) return null;
  const isAscending = !found.startsWith("-");
  const by = isAscending ? found : found.slice(1);
  return columns.includes(by) ? { by, isAscending } : null;
}

export function writeSort(text: string | null, table: string, { by, isAscending }: Sort): string {
  const others = partsOf(text).filter(([name]) => name !== table);
  const own: [string, string] = [table, `${isAscending ? "" : "-"}${by ?? ""}`];
  return [...others, own].map(([name, column]) => `${name}.${column}`).join(",");
}

// What a cell is sorted by; null: nobody knows it.
export type Value = string | number | null;

// What is not known comes last, whichever way.
export function sortRows<Row>(
  rows: readonly Row[],
  valueOf: (row: Row) => Value,
  isAscending: boolean,
): Row[] {
  const way = isAscending ? 1 : -1;
  return [...rows].sort((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)];
    if (a === b) return 0;
    if (a === null || b === null) return a === null ? 1 : -1;
    if (typeof a === "number" && typeof b === "number") return way * (a - b);
    return way * String(a).localeCompare(String(b), "en", { numeric: true });
  });
}
