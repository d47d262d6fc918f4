// SPDX-License-Identifier: Apache-2.0
// Colours by number, so that rows keep one byte for each slice. What the numbers look like is read
// from the page's custom properties, and read again when the colour scheme changes.
import { CLASS_COLORS, classColor } from "../base/kernel_class";
import type { TrackKind } from "./types";

const CLASSES = CLASS_COLORS.map((name) => `--k-${name}`);

// The order is that of the numbers.
const VARIABLES = [
  "--idle",
  ...CLASSES,
  "--scope",
  "--operator",
  "--line2",
  "--ink3",
  "--panel",
  "--line",
  "--ink",
  "--ink2",
  "--accent",
  "--select",
  "--scope-ink",
  "--sunk",
  "--bg",
  "--wait",
] as const;

function numberOf(variable: string): number {
  return (VARIABLES as readonly string[]).indexOf(variable);
}

export const INK = {
  idle: 0,
  scope: numberOf("--scope"),
  operator: numberOf("--operator"),
  call: numberOf("--line2"),
  wait: numberOf("--wait"),
  panel: numberOf("--panel"),
  line: numberOf("--line"),
  ink: numberOf("--ink"),
  ink2: numberOf("--ink2"),
  faint: numberOf("--ink3"),
  accent: numberOf("--accent"),
  select: numberOf("--select"),
  scopeInk: numberOf("--scope-ink"),
  sunk: numberOf("--sunk"),
  background: numberOf("--bg"),
  copy: numberOf("--k-copy"),
  fill: numberOf("--k-other"),
} as const;

export function classInk(kernelClass: string | undefined): number {
  return numberOf(`--k-${classColor(kernelClass)}`);
}

export function namedInk(color: (typeof CLASS_COLORS)[number]): number {
  return numberOf(`--k-${color}`);
}

const WAITS = /wait|stall|barrier|sync|idle/i;

export function inkOf(kind: TrackKind, kernelClass: string | undefined, label: string): number {
  switch (kind) {
    case "kernels":
      return classInk(kernelClass);
    case "copies":
      return INK.copy;
    case "fills":
      return INK.fill;
    case "graphs":
    case "scopes":
      return INK.scope;
    case "markers":
    case "coverage":
      return INK.operator;
    case "waits":
      return INK.wait;
    case "warps":
      if (kernelClass === undefined) return WAITS.test(label) ? INK.scope : INK.fill;
      return kernelClass === "wait" ? INK.scope : classInk(kernelClass);
    default:
      return INK.call;
  }
}

export interface Palette {
  // For fillStyle, by number.
  css: readonly string[];
  // The same as bytes of a picture: red, green, blue, alpha in the order of memory.
  pixel: Uint32Array;
  // What can be read on it, by number: another number.
  textOn: Uint8Array;
  font: string;
}

type Rgb = [number, number, number];

function luminance([red, green, blue]: Rgb): number {
  const linear = (part: number) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : Math.pow((share + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

export function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

export function parseColor(text: string): Rgb & { alpha?: number } {
  // "#fff" is what is left of "#ffffff" in a page that was made smaller.
  const whole = text.trim().replace(/^#(.)(.)(.)(.)?$/, "#$1$1$2$2$3$3$4$4");
  const hex = /^#([0-9a-f]{6})([0-9a-f]{2})?$/i.exec(whole);
  if (hex) {
    const value = parseInt(hex[1]!, 16);
    return [value >> 16, (value >> 8) & 255, value & 255];
  }
  const parts = text.match(/[\d.]+/g)?.map(Number) ?? [];
  return [parts[0] ?? 128, parts[1] ?? 128, parts[2] ?? 128];
}

// `read`: the value of a custom property.
export function makePalette(read: (variable: string) => string): Palette {
  const css = VARIABLES.map((variable) => read(variable).trim() || "#808080");
  const rgb = css.map(parseColor);
  const pixel = new Uint32Array(rgb.length);
  const bytes = new Uint8Array(pixel.buffer);
  rgb.forEach((color, i) => bytes.set([...color, 255], i * 4));
  const textOn = new Uint8Array(rgb.length);
  rgb.forEach((color, i) => {
    const choices = i === INK.operator ? [INK.accent, INK.ink] : [INK.ink, INK.background];
    const best = choices.find((choice) => contrast(rgb[choice]!, color) >= 4.5);
    const ranked = [...choices].sort((a, b) => contrast(rgb[b]!, color) - contrast(rgb[a]!, color));
    textOn[i] = i === INK.operator ? (best ?? ranked[0]!) : ranked[0]!;
  });
  textOn[INK.scope] = INK.scopeInk;
  return { css, pixel, textOn, font: read("--font") || "system-ui, sans-serif" };
}

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  return makePalette((variable) => style.getPropertyValue(variable));
}
