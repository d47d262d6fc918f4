// SPDX-License-Identifier: Apache-2.0
// What keeps more warps from running at once, and what would change it.
import { useState } from "react";
import type { DeviceLine, KernelByConfig, LaunchConfig, Multiprocessor } from "../../api/types";
import { useViewParameter } from "../../base/address";
import { bytes, count, percent, plural, sentence } from "../../base/format";
import { Bar, Panel } from "../../widgets/parts";
import { Empty } from "../../widgets/states";
import { configWords } from "./groups";
import {
  type BlockNeeds,
  limitWords,
  type Model,
  modelOf,
  nextStep,
  occupancyOf,
  RESOURCE_WORDS,
  RESOURCES,
  runningBlocks,
  sharedBytesOf,
} from "./occupancy";

// Of which the reader can choose, most time first.
const MOST_CONFIGS = 50;

function shareOf({ value, min, max }: { value: number; min: number; max: number }): number {
  return max > min ? (value - min) / (max - min) : 0;
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
        style={{ ["--at" as string]: `${shareOf(props) * 100}%` }}
        aria-valuetext={props.text}
        onChange={(event) => props.onChange(Number(event.target.value))}
      />
      <span className="num">{props.text}</span>
    </label>
  );
}

function changeText(from: BlockNeeds, to: BlockNeeds): string {
  if (to.registers !== from.registers) return `At most ${to.registers} registers per thread`;
  if (to.sharedBytes !== from.sharedBytes)
    return `At most ${bytes(to.sharedBytes)} of shared memory per block`;
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
        text={`${tried.registers} per thread`}
        onChange={(registers) => set({ registers })}
      />
      <Slider
        label="Shared memory"
        value={tried.sharedBytes}
        min={0}
        max={sm.shared_bytes - sm.shared_reserved_bytes}
        step={sm.shared_unit_bytes}
        text={`${bytes(tried.sharedBytes)} per block`}
        onChange={(sharedBytes) => set({ sharedBytes })}
      />
      <Slider
        label="Block size"
        value={tried.threads}
        min={sm.warp_threads}
        max={1024}
        step={sm.warp_threads}
        text={plural(tried.threads, "thread")}
        onChange={(threads) => set({ threads })}
      />
      <p className="occupancy-result" aria-live="polite">
        <b className={`num ${tone}`}>{percent(result.share)}</b>{" "}
        <span className="dim">
          {result.blocks === 0
            ? `no block fits: ${limitWords(result.limit)}`
            : `${plural(result.blocks, "block")} per multiprocessor, ${
                result.share === 1
                  ? "all that it can hold"
                  : `limited by ${limitWords(result.limit)}`
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

// What each resource allows, as it was recorded; where it was not, as the model says.
function boundsOf(config: LaunchConfig, model: Model | null): Record<string, number | null> | null {
  return config.occupancy_bounds ?? model?.now.by ?? null;
}

function needsWords(config: LaunchConfig): string {
  const shared = sharedBytesOf(config);
  return [
    config.registers === null
      ? "registers unknown"
      : `${plural(config.registers, "register")} per thread`,
    shared === null ? "shared memory unknown" : `${bytes(shared)} of shared memory per block`,
  ].join(", ");
}

function Bounds({ config, model }: { config: LaunchConfig; model: Model | null }) {
  const bounds = boundsOf(config, model);
  if (!bounds) {
    return <Empty title="What limits it was not recorded">{sentence(needsWords(config))}</Empty>;
  }
  const limit = config.occupancy_bound ?? model?.now.limit ?? null;
  const running = runningBlocks(bounds);
  return (
    <div className="occupancy">
      <p className="dim">
        Blocks that run on a multiprocessor, of those that each resource has room for:
      </p>
      {RESOURCES.map((resource) => {
        const blocks = bounds[resource];
        if (blocks === undefined || blocks === null) return null;
        const isLimit = resource === limit;
        return (
          <div key={resource} className="occupancy-row">
            <span>{RESOURCE_WORDS[resource]}</span>
            <Bar
              share={running / Math.max(blocks, 1)}
              color={isLimit && resource !== "waves" ? "var(--warn)" : "var(--ink3)"}
            />
            <span className="num">
              <b>
                {count(running)} of {count(blocks)}
              </b>
              <span className="dim">{isLimit && ", limits"}</span>
            </span>
          </div>
        );
      })}
    </div>
  );
}

// A line to read beside the bars: "65,536 registers, 228 KiB, 2,048 threads, 32 blocks".
function smWords(sm: Multiprocessor): string {
  return [
    `${count(sm.registers)} registers`,
    `${bytes(sm.shared_bytes)} of shared memory`,
    `${count(sm.threads)} threads`,
    plural(sm.blocks, "block"),
  ].join(", ");
}

function ConfigChoice(props: {
  configs: KernelByConfig[];
  at: number;
  onChange: (at: number) => void;
}) {
  const { configs, at } = props;
  if (configs.length < 2) return null;
  return (
    <select
      aria-label="Launch configuration"
      value={at}
      onChange={(event) => props.onChange(Number(event.target.value))}
    >
      {configs.slice(0, MOST_CONFIGS).map(({ config, duration_ns }, i) => (
        <option key={i} value={i}>
          {configWords(config)}, {plural(duration_ns.count, "launch", "launches")}
        </option>
      ))}
    </select>
  );
}

export function OccupancyPanel({
  configs,
  devices,
}: {
  configs: KernelByConfig[];
  devices: DeviceLine[];
}) {
  const [wanted, setWanted] = useViewParameter("config");
  const at = configs[Number(wanted ?? 0)] ? Number(wanted ?? 0) : 0;
  const config = configs[at]?.config;
  const title = "Occupancy by resource";
  if (!config || (config.block === null && config.occupancy === null)) {
    return (
      <Panel title={title}>
        <Empty title="No configuration was recorded">
          The log does not say how this kernel was launched.{" "}
          <code>gpufl trace -- python train.py</code> records it.
        </Empty>
      </Panel>
    );
  }
  const found = modelOf(config, devices);
  const model = "why" in found ? null : found;
  return (
    <Panel
      title={title}
      note={configs.length < 2 ? configWords(config) : undefined}
      actions={
        <ConfigChoice
          configs={configs}
          at={at}
          onChange={(to) => setWanted(to === 0 ? null : String(to))}
        />
      }
    >
      <Bounds config={config} model={model} />
      {model ? (
        <>
          <WhatIf key={JSON.stringify(model.needs)} sm={model.sm} needs={model.needs} />
          <p className="panel-foot dim">
            A multiprocessor of {model.device} has {smWords(model.sm)}.
          </p>
        </>
      ) : (
        <p className="panel-foot dim">What if: unknown, because {"why" in found && found.why}.</p>
      )}
    </Panel>
  );
}
