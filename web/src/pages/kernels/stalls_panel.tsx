// SPDX-License-Identifier: Apache-2.0
// Why warps of this kernel did not issue.
import type { Report, StallKernel, WindowEstimate } from "../../api/types";
import { count, isUnknown, percent, plural, sentence } from "../../base/format";
import { Bar, Panel, Swatch } from "../../widgets/parts";
import { Empty } from "../../widgets/states";
import { TableTools } from "../../widgets/table_tools";
import { isWaiting, stallColor, stallWords } from "./stalls";

// "±0.8 points", from the wider side.
export function errorText({ value, low, high }: WindowEstimate): string {
  const error = Math.max(high - value, value - low) * 100;
  return `±${error < 0.1 ? "<0.1" : error.toFixed(1)} points`;
}

export function stalledKernel(
  stalls: Report["stalls"] | undefined,
  name: string,
): StallKernel | null {
  if (!stalls || isUnknown(stalls)) return null;
  return stalls.kernels.find(({ full_name }) => full_name === name) ?? null;
}

export function StallsPanel({ stalls, name }: { stalls: Report["stalls"]; name: string }) {
  const title = "Stalls by reason";
  if (isUnknown(stalls)) {
    return (
      <Panel title={title}>
        <Empty title="Stalls were not recorded">
          {sentence(stalls.unknown)} To see what warps wait for:{" "}
          <code>gpufl trace --engine PcSampling -- python train.py</code>
        </Empty>
      </Panel>
    );
  }
  const kernel = stalledKernel(stalls, name);
  if (!kernel) {
    return (
      <Panel title={title}>
        <Empty title="No sample of this kernel">
          {plural(stalls.samples, "sample")} in {plural(stalls.windows, "window")} fell on other
          kernels: it ran too seldom or outside the windows. Record for longer.
        </Empty>
      </Panel>
    );
  }
  return (
    <Panel
      title={title}
      note={`${plural(kernel.samples, "sample")} in ${plural(stalls.windows, "window")}`}
    >
      <TableTools
        name="stalls"
        table={() => [
          ["reason", "samples", "share", "low", "high"],
          ...kernel.stalls.map(({ reason, samples, share: { value, low, high } }) => [
            reason,
            samples,
            value,
            low,
            high,
          ]),
        ]}
        rows={kernel.stalls}
      />
      <ul className="stalls">
        {kernel.stalls.map(({ reason, meaning, samples, share }) => (
          <li key={reason} className={isWaiting(reason) ? "" : "quiet"}>
            <span>
              <Swatch color={stallColor(reason)} />
              {stallWords(reason)}
            </span>
            <Bar share={share.value} color={stallColor(reason)} />
            <span className="num" title={`${count(samples)} samples, ${errorText(share)}`}>
              {percent(share.value)}
            </span>
            <span className="dim">{meaning}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
