// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { type Language, lineStates, tokenize } from "./tokenizer";

const kinds = (line: string, language: Language) =>
  tokenize(line, language)
    .filter(({ kind }) => kind !== "plain")
    .map(({ kind, text }) => `${kind}:${text}`);

describe("tokenizer", () => {
  it("reads CUDA C++", () => {
    expect(kinds("__global__ void f(const float* x, int n = 0x1F) { // go", "cuda")).toEqual([
      "keyword:__global__",
      "type:void",
      "keyword:const",
      "type:float",
      "type:int",
      "number:0x1F",
      "comment:// go",
    ]);
    expect(kinds('#include "a // b.h"', "cuda")).toEqual(["keyword:#include", 'string:"a // b.h"']);
    expect(kinds("a = 1.5e-3f + .5f;", "cuda")).toEqual(["number:1.5e-3f", "number:.5f"]);
  });
  it("reads Python", () => {
    expect(kinds("@triton.jit", "python")).toEqual(["keyword:@triton.jit"]);
    expect(kinds("def f(x): return x @ w  # '", "python")).toEqual([
      "keyword:def",
      "keyword:return",
      "comment:# '",
    ]);
  });
  it("reads PTX", () => {
    expect(kinds("@%p1 bra \t$L__BB0_6;", "ptx")).toEqual([
      "register:@%p1",
      "opcode:bra",
      "label:$L__BB0_6",
    ]);
    expect(kinds("ld.global.u32 \t%r21, [%rd5+4];", "ptx")).toEqual([
      "opcode:ld.global.u32",
      "register:%r21",
      "register:%rd5",
      "number:4",
    ]);
    expect(kinds(".reg .pred \t%p<6>;", "ptx")[0]).toBe("keyword:.reg");
  });
  it("reads SASS", () => {
    expect(kinds("@!P0 BRA `(.L_x_0)", "sass")).toEqual([
      "register:@!P0",
      "opcode:BRA",
      "label:`(.L_x_0)",
    ]);
    expect(kinds("LDG.E.64 R4, desc[UR4][R2.64+0x10]", "sass")).toEqual([
      "opcode:LDG.E.64",
      "register:R4",
      "register:UR4",
      "register:R2.64",
      "number:+0x10",
    ]);
  });
  it("carries comments and strings over lines", () => {
    expect(lineStates(["int a; /* one", "two */ int b;", "c"], "cuda")).toEqual(["", "*/", ""]);
    expect(tokenize("two */ int b;", "cuda", "*/")[0]).toEqual({ kind: "comment", text: "two */" });
    expect(lineStates(['"""doc', "'''", '""" + x', "y"], "python")).toEqual(["", '"""', '"""', ""]);
    expect(lineStates(['s = "/*"', "x"], "cuda")).toEqual(["", ""]);
  });
  it("never loses a character", () => {
    const lines = [
      '"open',
      "'\\",
      "a\u0000b",
      "λ→😀 x",
      "@",
      "``(",
      "%%",
      "0x",
      "/*/",
      '"""',
      "R",
      ".",
      "",
    ];
    for (const language of ["cuda", "python", "ptx", "sass", "plain"] as const) {
      for (const line of lines) {
        expect(
          tokenize(line, language)
            .map(({ text }) => text)
            .join(""),
        ).toBe(line);
      }
    }
  });
  it("stays linear in long lines", () => {
    const begin = performance.now();
    tokenize('"\\'.repeat(20_000), "cuda");
    tokenize("@".repeat(20_000), "sass");
    expect(performance.now() - begin).toBeLessThan(1500);
  });
});
