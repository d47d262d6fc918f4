// SPDX-License-Identifier: Apache-2.0
// Texts that fit. Letters differ in width: the guess is from the mean, and then measured.

// The most of a text that is no wider, with an ellipsis; empty: not even two letters are.
export function shortened(
  text: string,
  width: number,
  widthOf: (text: string) => number,
  ellipsis: number,
): string {
  const whole = widthOf(text);
  if (whole <= width) return text;
  let letters = Math.floor((text.length * (width - ellipsis)) / whole);
  for (; letters >= 2; --letters) {
    const short = `${text.slice(0, letters).trimEnd()}…`;
    if (widthOf(short) <= width) return short;
  }
  return "";
}
