// SPDX-License-Identifier: Apache-2.0
// Code in sentences of the analysis: between backquotes, or a command in parentheses.

export interface TextPart {
  text: string;
  isCode: boolean;
}

const CODE = /`([^`]+)`|(?<=\()((?:gpufl |GPUFL_)[^()]+)(?=\))/g;

export function splitCode(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const match of text.matchAll(CODE)) {
    if (match.index > at) parts.push({ text: text.slice(at, match.index), isCode: false });
    parts.push({ text: match[1] ?? match[2] ?? "", isCode: true });
    at = match.index + match[0].length;
  }
  if (at < text.length) parts.push({ text: text.slice(at), isCode: false });
  return parts;
}
