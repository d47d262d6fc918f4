// SPDX-License-Identifier: Apache-2.0
import { splitCode } from "./split_code";
import "./with_code.css";

// Advice of the analysis, with its commands as code.
export function WithCode({ text }: { text: string }) {
  return splitCode(text).map(({ text: part, isCode }, i) =>
    isCode ? (
      <code key={i} className="inline-code">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
