// SPDX-License-Identifier: Apache-2.0
// Nine colours for the classes that the analysis knows; never a hash of a name.

const COLOR_OF: Record<string, string> = {
  "matrix product": "matmul",
  convolution: "matmul",
  attention: "softmax",
  softmax: "softmax",
  normalization: "norm",
  reduction: "reduction",
  elementwise: "elementwise",
  optimizer: "elementwise",
  random: "elementwise",
  gather: "gather",
  sort: "gather",
  communication: "comm",
  copy: "copy",
};

export const CLASS_COLORS = [
  "matmul",
  "elementwise",
  "reduction",
  "norm",
  "copy",
  "softmax",
  "gather",
  "comm",
  "other",
] as const;
export type ClassColor = (typeof CLASS_COLORS)[number];

export function classColor(kernelClass: string | undefined): ClassColor {
  return (COLOR_OF[kernelClass ?? ""] ?? "other") as ClassColor;
}

// For CSS; the timeline reads the values once.
export function classVariable(kernelClass: string | undefined): string {
  return `var(--k-${classColor(kernelClass)})`;
}
