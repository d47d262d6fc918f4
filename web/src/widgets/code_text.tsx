// SPDX-License-Identifier: Apache-2.0
// A line of code with its words in colours.
import type { ReactNode } from "react";
import { type Language, type LineState, tokenize } from "../base/tokenizer";
import "./code_text.css";

export function CodeText({
  text,
  language,
  state,
}: {
  text: string;
  language: Language;
  state: LineState | undefined;
}) {
  return tokenize(text, language, state).map(({ kind, text: part }, i): ReactNode =>
    kind === "plain" ? (
      part
    ) : (
      <span key={i} className={`tok-${kind}`}>
        {part}
      </span>
    ),
  );
}
