// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, it, vi } from "vitest";
import { copyText } from "./clipboard";

// A document in which what is selected can be copied, or not.
function documentThat(copies: boolean) {
  const copied: string[] = [];
  const field = {
    value: "",
    className: "",
    setAttribute: () => undefined,
    select: () => undefined,
    remove: vi.fn(),
  };
  vi.stubGlobal("HTMLElement", class {});
  vi.stubGlobal("document", {
    activeElement: null,
    body: { append: () => undefined },
    createElement: () => field,
    querySelectorAll: () => [],
    execCommand: () => {
      if (copies) copied.push(field.value);
      return copies;
    },
  });
  return { copied, field };
}

describe("copyText", () => {
  afterEach(() => vi.unstubAllGlobals());
  it("uses the clipboard where there is one", async () => {
    const writeText = vi.fn(() => Promise.resolve());
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    expect(await copyText("a")).toBe(true);
    expect(writeText).toHaveBeenCalledWith("a");
  });
  it("copies what is selected over plain http", async () => {
    vi.stubGlobal("navigator", {});
    const { copied, field } = documentThat(true);
    expect(await copyText("b")).toBe(true);
    expect(copied).toEqual(["b"]);
    expect(field.remove).toHaveBeenCalled();
  });
  it("says when neither is allowed", async () => {
    vi.stubGlobal("navigator", { clipboard: { writeText: () => Promise.reject(new Error()) } });
    documentThat(false);
    expect(await copyText("c")).toBe(false);
  });
});
