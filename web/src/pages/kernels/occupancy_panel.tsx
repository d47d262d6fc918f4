// SPDX-License-Identifier: Apache-2.0
// What keeps more warps from running at once, and what would change it.
import { useState } from "react";
import type { DeviceLine, KernelByConfig, LaunchConfig } from "../../api/types";
import { bytes, count, percent, plural } from "../../base/format";
import { Bar, Panel } from "../../widgets/parts";
import { Empty } from "../../widgets/states";
import { configWords, threadsOf } from "./groups";
import {
  type BlockNeeds,
  limitWords,
  multiprocessorOf,
  type Multiprocessor,
  nextStep,
  occupancyOf,
  type Resource,
  RESOURCE_WORDS,
} from "./occupancy";

// What one launch has of it: blocks that each resource allows.
export type RecordedLimits = Partial<Record<Resource, number>>;

const RESOURCES: Resource[] = ["registers", "shared", "warps", "blocks"];

function needsOf(config: LaunchConfig): BlockNeeds {
  return {
    threads: threadsOf(config) ?? 0,
    registers: config.registers ?? 0,
    sharedBytes: (config.shared_static ?? 0) + (config.shared_dynamic ?? 0),
  };
}

function Slider(props: {
  label: string;
  value: number;
  min: number;
  max: number;
  step: number;
  text: string;
  onChange: (value: number) => void;
}) {
  return (
    <label className="occupancy-slider">
      <span>{props.label}</span>
      <input
        type="range"
        min={props.min}
        max={props.max}
        step={props.step}
        value={props.value}
        aria-valuetext={props.text}
        onChange={(event) => props.onChange(Number(event.target.value))}
      />
      <span className="num">{props.text}</span>
    </label>
  );
}

function changeText(from: BlockNeeds, to: BlockNeeds): string {
  if (to.registers !== from.registers) return `At most ${to.registers} registers a thread`;
  if (to.sharedBytes !== from.sharedBytes)
    return `At most ${bytes(to.sharedBytes)} of shared memory a block`;
  return `Blocks of ${to.threads} threads`;
}

function WhatIf({ sm, needs }: { sm: Multiprocessor; needs: BlockNeeds }) {
  const [tried, setTried] = useState(needs);
  const now = occupancyOf(sm, needs);
  const result = occupancyOf(sm, tried);
  const step = nextStep(sm, needs);
  const isChanged = JSON.stringify(tried) !== JSON.stringify(needs);
  const tone = result.share > now.share ? "better" : result.share < now.share ? "worse" : "";
  const set = (change: Partial<BlockNeeds>) => setTried({ ...tried, ...change });
  return (
    <div className="occupancy-what-if">
      <h3>What if</h3>
      {step && (
        <button className="btn" onClick={() => setTried(step.needs)}>
          {changeText(needs, step.needs)}: <b>{percent(step.occupancy.share)}</b>
        </button>
      )}
      <Slider
        label="Registers"
        value={tried.registers}
        min={16}
        max={255}
        step={1}
        text={`${tried.registers} a thread`}
        onChange={(registers) => set({ registers })}
      />
      <Slider
        label="Shared memory"
        value={tried.sharedBytes}
        min={0}
        max={sm.sharedBytes - sm.sharedReserved}
        step={sm.sharedUnit}
        text={`${bytes(tried.sharedBytes)} a block`}
        onChange={(sharedBytes) => set({ sharedBytes })}
      />
      <Slider
        label="Block size"
        value={tried.threads}
        min={32}
        max={1024}
        step={32}
        text={plural(tried.threads, "thread")}
        onChange={(threads) => set({ threads })}
      />
      <p className="occupancy-result" aria-live="polite">
        <b className={`num ${tone}`}>{percent(result.share)}</b>{" "}
        <span className="dim">
          {result.blocks === 0
            ? `no block fits: ${limitWords(result.limit)}`
            : `${plural(result.blocks, "block")} a multiprocessor, ${
                result.share === 1 ? "which is full" : `limited by ${limitWords(result.limit)}`
              }`}
        </span>
        {isChanged && (
          <button className="btn" onClick={() => setTried(needs)}>
            Reset
          </button>
        )}
      </p>
    </div>
  );
}

export function OccupancyPanel(props: {
  configs: KernelByConfig[];
  recorded: RecordedLimits | undefined;
  device: DeviceLine | undefined;
}) {
  const { configs, recorded, device } = props;
  const main = configs.find(({ config }) => config)?.config;
  const sm = multiprocessorOf(device?.compute_major, device?.compute_minor);
  const title = "Occupancy by resource";
  if (!main) {
    return (
      <Panel title={title}>
        <Empty title="No configuration was recorded">
          The log does not tell how this kernel was launched.{" "}
          <code>gpufl trace -- python train.py</code> records it.
        </Empty>
      </Panel>
    );
  }
  const needs = needsOf(main);
  const model = sm && main.block && main.registers !== null ? occupancyOf(sm, needs) : null;
  // A model that does not tell what was recorded tells nothing about what could be.
  const isTrusted =
    model !== null && (main.occupancy === null || Math.abs(model.share - main.occupancy) < 0.005);
  const by = recorded ?? (isTrusted ? model.by : undefined);
  const limit = (main.occupancy_limit ?? (isTrusted ? model.limit : null)) as Resource | null;
  const most = by?.warps ?? 1;
  const others = configs.length - 1;
  return (
    <Panel
      title={title}
      note={
        <span>
          {configWords(main)}
          {others > 0 && `, and ${plural(others, "other configuration")}`}
        </span>
      }
    >
      {by && (
        <div className="occupancy">
          {RESOURCES.map((resource) => {
            const blocks = by[resource];
            if (blocks === undefined || blocks === null) return null;
            const isLimit = resource === limit;
            return (
              <div key={resource} className="occupancy-row">
                <span>{RESOURCE_WORDS[resource]}</span>
                <Bar
                  share={Math.min(blocks, most) / most}
                  color={isLimit && resource !== "warps" ? "var(--warn)" : "var(--ink3)"}
                />
                <span className="num">
                  <b>{count(blocks)}</b>
                  <span className="dim">
                    {" "}
                    {blocks === 1 ? "block" : "blocks"}
                    {isLimit && ", limits"}
                  </span>
                </span>
              </div>
            );
          })}
        </div>
      )}
      {!by && (
        <Empty title="What limits it was not recorded">
          {main.registers === null ? "" : `${main.registers} registers a thread, `}
          {bytes(needs.sharedBytes)} of shared memory a block, {plural(needs.threads, "thread")} a
          block.
        </Empty>
      )}
      {sm && isTrusted ? (
        <WhatIf key={JSON.stringify(needs)} sm={sm} needs={needs} />
      ) : (
        <p className="panel-foot dim">
          {sm === null
            ? "No what-if: the limits of this GPU's multiprocessors are not known here."
            : "No what-if: registers were not recorded, or the limits of this GPU differ from those of its kind."}
        </p>
      )}
    </Panel>
  );
}
