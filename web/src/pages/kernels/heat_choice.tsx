// SPDX-License-Identifier: Apache-2.0
import type { InstructionCounts } from "../../api/types";
import { setViewParameters } from "../../base/address";
import { countWords, type Heat, type HeatBy } from "./heat";

// What the bars beside the code are of, where the session has several.
export function HeatChoice({
  heats,
  by,
  counts,
}: {
  heats: Heat[];
  by: HeatBy;
  counts: InstructionCounts | null;
}) {
  if (heats.length < 2) return null;
  return (
    <span
      className="kernels-groups"
      role="group"
      aria-label="Heat by"
      title={countWords(counts).join("\n")}
    >
      {heats.map(({ by: other, title, hint }) => (
        <button
          key={other}
          className="btn"
          aria-pressed={other === by}
          title={hint}
          onClick={() => setViewParameters({ heat: other === heats[0]?.by ? null : other })}
        >
          {title}
        </button>
      ))}
    </span>
  );
}
