// SPDX-License-Identifier: Apache-2.0
// What a page would show, why it does not, and what would record it.
import type { KernelCode } from "../../api/types";
import { sentence } from "../../base/format";
import { remedyHere } from "../../base/remedy";
import { WithCode } from "./with_code";

const WORDS: Record<string, string> = {
  samples: "No samples",
  code: "No machine code",
  lines: "No line numbers",
  "source text": "No source text",
};

export function MissingList({ of }: { of: KernelCode["missing"] }) {
  if (of.length === 0) return null;
  return (
    <ul className="missing">
      {of.map(({ what, reason, remedy }) => {
        const how = remedyHere(remedy);
        return (
          <li key={what + reason}>
            <b>{WORDS[what] ?? `No ${what}`}</b>
            <span>
              <WithCode text={sentence(reason)} />
              {how !== "" && (
                <span className="dim">
                  {" "}
                  <WithCode text={sentence(how)} />
                </span>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
