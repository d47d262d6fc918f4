// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { readSort, sortRows, writeSort } from "./table_sort";

it("keeps how each table of a page is sorted", () => {
  const one = writeSort(null, "kernels", { by: "count", isAscending: false });
  const both = writeSort(one, "events", { by: "time", isAscending: true });
  expect(both).toBe("kernels.-count,events.time");
  expect(readSort(both, "kernels", ["count"])).toEqual({ by: "count", isAscending: false });
  expect(readSort(both, "events", ["time"])).toEqual({ by: "time", isAscending: true });
  expect(writeSort(both, "kernels", { by: "mean", isAscending: true })).toBe(
    "events.time,kernels.mean",
  );
});

it("takes no column that the table does not have", () => {
  for (const text of [null, "", "kernels", "kernels.other", "x.count", ".count"]) {
    expect(readSort(text, "kernels", ["count"])).toBeNull();
  }
});

it("puts what is not known last, whichever way", () => {
  const sorted = (isAscending: boolean) =>
    sortRows([null, 2, 10, null, 0], (value) => value, isAscending);
  expect(sorted(true)).toEqual([0, 2, 10, null, null]);
  expect(sorted(false)).toEqual([10, 2, 0, null, null]);
});

it("sorts numbers in texts by what they are", () => {
  const names = ["stream 10", "stream 9", "Stream 1"];
  expect(sortRows(names, (name) => name, true)).toEqual(["Stream 1", "stream 9", "stream 10"]);
});
