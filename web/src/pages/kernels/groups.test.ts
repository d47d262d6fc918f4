// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type {
  IndexedKernel,
  KernelGroup,
  KernelList,
  Kernels,
  LaunchConfig,
} from "../../api/types";
import {
  classFilter,
  configText,
  configWords,
  filterRows,
  findKernel,
  groupParameter,
  groupPath,
  kernelRows,
  pathOfRow,
  rowsBy,
  whyNot,
} from "./groups";

const group = <T extends object>(label: string, more: T = {} as T): KernelGroup & T => ({
  label,
  share: 0.5,
  duration_ns: { count: 1, total: 10 },
  ...more,
});
const indexed = (label: string, full_name: string): IndexedKernel =>
  group(label, { full_name, class: "elementwise" as const, relative_error: 0 });
const named = (label: string, block: number, more: { full_name?: string } = {}) =>
  group(label, { ...more, class: "elementwise" as const, config: config(block) });
const config = (block: number): LaunchConfig => ({
  grid: [3072, 2, 1],
  block: [block, 1, 1],
  registers: 18,
  shared_static: 0,
  shared_dynamic: 0,
  local_per_thread: 0,
  local_total: 0,
  occupancy: 1,
  occupancy_limit: "warps",
  occupancy_bound: "waves",
  occupancy_bounds: null,
});
const section: Kernels = {
  count: 3,
  total_ns: 30,
  by_name: [
    group("mul [4]", { full_name: "mul<4>()", class: "elementwise" as const }),
    group("gemm", { class: "matrix product" as const }),
  ],
  by_config: [
    named("mul [4] <<<3072, 128>>>", 128, { full_name: "mul<4>()" }),
    named("gemm <<<1, 256>>>", 256),
    named("mul [4] <<<1, 64>>>", 64, { full_name: "mul<4>()" }),
  ],
  by_class: [group("matrix product")],
  by_scope: [group("(no scope)", { is_rest: true as const })],
  by_stream: [group("GPU 0, stream 7", { device: 0, stream: "7" })],
  by_device: [],
  by_line: { unknown: "call stacks were not recorded", hint: "record with --stacks" },
  by_api_call: [],
};
const list: KernelList = {
  version: 1,
  is_live: false,
  is_complete: true,
  indexed: { bytes: 1, of: 1 },
  span: [0, 100],
  count: 3,
  total_ns: 30,
  names: 2,
  by_name: [indexed("mul", "mul<4>()"), indexed("mul", "mul<8>()")],
};

describe("groups of kernels", () => {
  it("shows the index until the report is there, then what it adds", () => {
    expect(rowsBy("name", list, undefined).map(({ label, id }) => [label, id])).toEqual([
      ["mul", "mul<4>()"],
      ["mul", "mul<8>()"],
    ]);
    const rows = rowsBy("name", list, section);
    expect(rows[0]).toMatchObject({ label: "mul [4]", kernel: "mul<4>()", configs: 2 });
    expect(rows[0]?.config?.block?.[0]).toBe(128);
    expect(rows[1]).toMatchObject({ kernel: "gemm", configs: 1 });
  });
  it("shows all that the index has where the report is of a part", () => {
    const part = { ...section, count: 2 };
    expect(rowsBy("name", list, part).map(({ label }) => label)).toEqual(["mul", "mul"]);
    expect(rowsBy("name", list, part)[0]).toMatchObject({ configs: 2 });
    expect(findKernel("mul<4>()", list, part)?.label).toBe("mul");
    expect(findKernel("mul<4>()", list, section)?.label).toBe("mul [4]");
    expect(findKernel("mul [4]", list, part)).toBe(list.by_name[0]);
  });
  it("leads from a configuration to its kernel", () => {
    expect(rowsBy("config", list, section).map(({ kernel }) => kernel)).toEqual([
      "mul<4>()",
      "gemm",
      "mul<4>()",
    ]);
  });
  it("leads on from every row that has somewhere to lead", () => {
    const row = { kernel: null, label: "copy engine", fullName: "/a b.py:3", isRest: false };
    expect(pathOfRow("name", { ...row, kernel: "mul<4>()" })).toBe("kernels/mul%3C4%3E()");
    expect(pathOfRow("class", row)).toBe("kernels?q=class%3A%22copy%20engine%22");
    expect(pathOfRow("line", row)).toBe("kernels?by=line&group=%2Fa%20b.py%3A3");
    expect(pathOfRow("line", { ...row, isRest: true })).toBeNull();
  });
  it("says what would record a grouping", () => {
    expect(whyNot(section, "line")).toBe("Call stacks were not recorded. Record with --stacks.");
    expect(whyNot(section, "operator")).toContain("gpufl.torch.attach()");
    expect(whyNot(section, "scope")).toContain("gpufl.Scope");
    expect(whyNot(section, "stream")).toBeNull();
    expect(whyNot(undefined, "name")).toBeNull();
  });
  it("filters by words and class", () => {
    const rows = rowsBy("name", list, section);
    expect(filterRows(rows, "MUL <4>").map(({ label }) => label)).toEqual(["mul [4]"]);
    expect(filterRows(rows, classFilter("matrix product")).map(({ label }) => label)).toEqual([
      "gemm",
    ]);
    expect(filterRows(rows, "class:matrix")).toEqual([]);
    expect(filterRows(rows, " ")).toHaveLength(2);
  });
  it("finds a kernel by any of its names", () => {
    expect(findKernel("mul [4]", list, section)?.full_name).toBe("mul<4>()");
    expect(findKernel("mul<8>()", list, section)?.label).toBe("mul");
    expect(findKernel("nothing", list, section)).toBeNull();
  });
  it("leaves out dimensions of one", () => {
    expect(configText(config(128))).toBe("<<<3072×2, 128>>>");
    expect(configWords({ ...config(1), grid: [1, 1, 1] })).toBe("1 block of 1 thread");
    expect(configText({ ...config(1), grid: null, block: null })).toBe("–");
  });
});

describe("the kernels of a group", () => {
  it("are asked for by the list of the report that the group is in", () => {
    expect(["operator", "line", "stream"].map((by) => groupParameter(by as "line"))).toEqual([
      "op",
      "line",
      "stream",
    ]);
    expect(groupParameter("name")).toBeNull();
    expect(groupPath("line", "/a b/train.py:3")).toBe(
      "kernels?by=line&group=%2Fa%20b%2Ftrain.py%3A3",
    );
  });
  it("have the configurations that the session has of them", () => {
    const [row] = kernelRows([group("mul [4]", { full_name: "mul<4>()" })], section);
    expect(row).toMatchObject({ kernel: "mul<4>()", configs: 2, config: config(128) });
  });
});
