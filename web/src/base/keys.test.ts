// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { keyOf } from "./keys";

const pressed = (key: string, shiftKey: boolean, isLocked: boolean) =>
  keyOf({ key, shiftKey, getModifierState: (name) => name === "CapsLock" && isLocked });

it("hears the same keys with Caps Lock", () => {
  expect(pressed("K", false, true)).toBe("k");
  expect(pressed("k", true, true)).toBe("K");
  expect(pressed("K", true, false)).toBe("K");
  expect(pressed("Escape", false, true)).toBe("Escape");
});
