// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { fuzzyMatch, stretches } from "./fuzzy";

function best(typed: string, texts: string[]): string | undefined {
  return texts
    .map((text) => ({ text, score: fuzzyMatch(typed, text)?.score ?? -Infinity }))
    .filter(({ score }) => score > -Infinity)
    .sort((a, b) => b.score - a.score)[0]?.text;
}

describe("what fits", () => {
  it("has all letters in order", () => {
    expect(fuzzyMatch("krn", "kernels")).not.toBeNull();
    expect(fuzzyMatch("nrk", "kernels")).toBeNull();
    expect(fuzzyMatch("kernelss", "kernels")).toBeNull();
    expect(fuzzyMatch("", "anything")?.at).toEqual([]);
  });
  it("does not care about upper and lower case", () => {
    expect(fuzzyMatch("ADAM", "fused_adam")?.at).toEqual([6, 7, 8, 9]);
  });
  it("finds words in any order", () => {
    expect(fuzzyMatch("copy unrolled", "unrolled_elementwise<direct_copy>")).not.toBeNull();
    expect(fuzzyMatch("copy missing", "unrolled_elementwise<direct_copy>")).toBeNull();
  });
});

describe("what fits better", () => {
  it("takes the place that reads best, not the first", () => {
    expect(fuzzyMatch("mm", "elementwise_multiply_mm")?.at).toEqual([21, 22]);
    expect(fuzzyMatch("sk", "ask_stream_k")?.at).toEqual([4, 11]);
  });
  it("prefers beginnings of words and runs", () => {
    expect(best("ov", ["Remove it", "Overview"])).toBe("Overview");
    expect(best("gemm", ["get_element_moment_max", "sm90_gemm_kernel"])).toBe("sm90_gemm_kernel");
    expect(best("lc", ["calculate", "layerCopy"])).toBe("layerCopy");
  });
  it("prefers the shorter of two that fit as well", () => {
    expect(best("step", ["step_with_a_long_name", "step"])).toBe("step");
  });
});

it("shows which letters were found", () => {
  expect(stretches("kernels", [0, 2, 3])).toEqual([
    { text: "k", isFound: true },
    { text: "e", isFound: false },
    { text: "rn", isFound: true },
    { text: "els", isFound: false },
  ]);
  expect(stretches("", [])).toEqual([]);
});
