// SPDX-License-Identifier: Apache-2.0
// The six facts that the overview opens with.
import type {
  Coverage,
  DeviceTime,
  GpuTime,
  Health,
  Iterations,
  Ledger,
  LedgerNumbers,
  MemoryUsage,
} from "../../api/types";
import {
  bytes,
  bytesQuantity,
  count,
  duration,
  isUnknown,
  percent,
  plural,
  timeQuantity,
  type Unknown,
  sentence,
} from "../../base/format";
import type { FactProps } from "../../widgets/parts";
import { numberIn } from "../log/ledger";

export function whyUnknown({ unknown, hint }: Unknown): string {
  return [unknown, hint ?? ""].filter(Boolean).map(sentence).join(" ");
}

const unknownFact = (label: string, why: Unknown | string): FactProps => ({
  label,
  value: null,
  hint: typeof why === "string" ? why : whyUnknown(why),
});

// "32 to 41.4", in the unit that fits the value between them.
function rangeText(typical: number, min: number, max: number): string {
  const unit = timeQuantity(typical).unit;
  const same = [min, max].every((value) => timeQuantity(value).unit === unit);
  if (!same) return `up to ${duration(max)}`;
  const short = (value: number) => {
    const text = timeQuantity(value).value;
    return /^\d\d+\.\d\d/.test(text) ? String(Math.round(Number(text) * 10) / 10) : text;
  };
  return short(min) === short(max) ? "all alike" : `${short(min)} to ${short(max)}`;
}

export function stepFact(
  iterations: Pick<Iterations, "label" | "source" | "warmups" | "duration_ns"> | Unknown,
): FactProps {
  if (isUnknown(iterations)) return unknownFact("Step", iterations);
  const time = iterations.duration_ns;
  const typical = timeQuantity(time.median);
  const isOne = time.count <= 1 || time.min === undefined || time.max === undefined;
  return {
    label: "Step",
    value: typical.value,
    unit: isOne
      ? typical.unit
      : `${typical.unit} · ${rangeText(time.median ?? 0, time.min!, time.max!)}`,
    hint: `Median of ${plural(time.count, "step")} (${iterations.label})${
      iterations.warmups > 0 ? `, without ${plural(iterations.warmups, "warm-up")}` : ""
    }. Mean ${duration(time.mean)}, p90 ${duration(time.p90)}.`,
  };
}

// GPUs that the log says something of; those that did nothing count too.
function knownDevices({ devices }: GpuTime): DeviceTime[] {
  return devices.filter(({ busy_ns }) => !isUnknown(busy_ns));
}

function number(value: number | Unknown): number {
  return typeof value === "number" ? value : 0;
}

function whyNoGpu(gpu: GpuTime): Unknown | string {
  const busy = gpu.devices[0]?.busy_ns;
  if (busy !== undefined && isUnknown(busy)) return busy;
  return isUnknown(gpu.recorded_ns) ? gpu.recorded_ns : "The log names no GPU.";
}

const share = (part: number, of: number) => (of > 0 ? percent(part / of) : null);

export function busyFact(gpu: GpuTime): FactProps {
  const devices = knownDevices(gpu);
  if (devices.length === 0) return unknownFact("GPU busy", whyNoGpu(gpu));
  const busy = devices.reduce((sum, device) => sum + number(device.busy_ns), 0);
  const recorded = devices.reduce((sum, device) => sum + number(device.recorded_ns), 0);
  return {
    label: "GPU busy",
    value: share(busy, recorded),
    unit: devices.length > 1 ? `of ${devices.length} GPUs` : `· ${duration(busy)}`,
    hint: ["Kernels, copies and memsets"]
      .concat(
        devices.map(
          ({ device, busy_share, recorded_ns }) =>
            `GPU ${device}: ${percent(number(busy_share))} of ${duration(number(recorded_ns))} recorded`,
        ),
      )
      .join("\n"),
  };
}

// The analysis lists pauses that are long enough to look at; others only add up.
function pausesText(long: number, between: number, of: string | null): string {
  if (between <= 0) return "no pause";
  return `${of ?? duration(between)} in ${long > 0 ? "" : "short "}pauses`;
}

// What is not busy, so that the two are all of it; what counts are the pauses between the first and
// the last work: what comes before and after is start-up and end.
export function idleFact(gpu: GpuTime): FactProps {
  const label = "GPU idle";
  const devices = knownDevices(gpu).filter(({ idle }) => !isUnknown(idle));
  if (devices.length === 0) return unknownFact(label, whyNoGpu(gpu));
  let between = 0;
  let pauses = 0;
  for (const device of devices) {
    if (isUnknown(device.idle)) continue;
    between += device.idle.total_ns + device.idle.short_ns;
    pauses += device.idle.count;
  }
  const recorded = devices.reduce((sum, device) => sum + number(device.recorded_ns), 0);
  const busy = devices.reduce((sum, device) => sum + number(device.busy_ns), 0);
  const before = devices.reduce((sum, device) => sum + number(device.before_ns), 0);
  const after = devices.reduce((sum, device) => sum + number(device.after_ns), 0);
  return {
    label,
    value: share(recorded - busy, recorded),
    unit: `· ${pausesText(pauses, between, share(between, recorded))}`,
    hint: `Between its first and its last work, waiting for the host: ${duration(between)}, ${plural(pauses, "long pause")}. Before its first work ${duration(before)}, after its last ${duration(after)}.`,
  };
}

export function kernelFact(kernels: { count: number; total_ns: number; names: number }): FactProps {
  return {
    label: "Kernels",
    value: count(kernels.count),
    unit: kernels.count > 0 ? `${plural(kernels.names, "name")}` : "",
    hint: `${duration(kernels.total_ns)} on GPUs`,
  };
}

// The peak of allocations where those were recorded, else of what the GPU said was in use.
export function memoryFact(memory: MemoryUsage[] | Unknown, health: Health | undefined): FactProps {
  const label = "GPU memory";
  const total = health?.devices.find(
    ({ memory_bytes }) => memory_bytes !== undefined,
  )?.memory_bytes;
  const of = (value: number, words: string): FactProps => {
    const quantity = bytesQuantity(value);
    const all = bytesQuantity(total);
    return {
      label,
      value: quantity.value,
      unit: total === undefined ? quantity.unit : `${quantity.unit} of ${all.value} ${all.unit}`,
      hint: words,
    };
  };
  const sampled = health?.metrics.filter(({ metric }) => metric === "memory_used_bytes") ?? [];
  if (sampled.length > 0) {
    const peak = sampled.reduce((most, { values }) => Math.max(most, values.max), 0);
    return of(peak, "The most that was in use on one GPU, by all programs, of what was sampled");
  }
  if (!isUnknown(memory)) {
    const peaks = memory.map(({ peak_bytes }) => peak_bytes);
    return of(Math.max(0, ...peaks), "The most that this program had allocated at once");
  }
  return unknownFact(label, memory);
}

export interface CostPart {
  label: string;
  text: string;
  what: string;
}

export interface Cost {
  // Of the session's time; null: nobody measured it.
  share: number | null;
  parts: CostPart[];
}

const ENGINE_MEASURES: Record<string, string> = {
  calls: "from its own calls and waits",
  steps: "from steps with and without it",
  "calls and steps": "from its calls, and from steps with and without it",
};

function timePart(label: string, ns: number | null, of: number, what: string): CostPart[] {
  if (ns === null) return [];
  return [{ label, text: duration(ns), what: of > 0 ? `${percent(ns / of)} ${what}` : what }];
}

// An engine that looks deeper measures its own cost, which is that of all; otherwise it is the time
// in callbacks and what the vendor's library says of itself.
export function costOf(numbers: LedgerNumbers | null, coverage: Coverage): Cost {
  const whole = coverage.whole_ns;
  const callbacks = numberIn(numbers, "callback_ns");
  const library = numberIn(numbers, "vendor_overhead_ns");
  const measured = coverage.engines.filter(({ cost_ns }) => cost_ns !== null);
  const parts = [
    ...measured.flatMap(({ engine, cost_ns, measure }) =>
      timePart(
        engine,
        cost_ns ?? 0,
        whole,
        `of the session, ${ENGINE_MEASURES[measure ?? ""] ?? "measured"}`,
      ),
    ),
    ...timePart("In callbacks", callbacks, whole, "of the session's time"),
    ...timePart("Vendor's library", library, whole, "of the session's time"),
    ...timePart("Collector", numberIn(numbers, "collector_cpu_ns"), whole, "of one core"),
  ];
  const written = numberIn(numbers, "raw_bytes");
  if (written !== null) {
    parts.push({ label: "Log", text: bytes(written), what: "before compression" });
  }
  if (whole <= 0) return { share: null, parts };
  if (measured.length > 0) {
    return { share: measured.reduce((sum, { cost_ns }) => sum + (cost_ns ?? 0), 0) / whole, parts };
  }
  if (callbacks === null && library === null) return { share: null, parts };
  return { share: ((callbacks ?? 0) + (library ?? 0)) / whole, parts };
}

// Why nobody knows what it cost.
export function whyNoCost(isLive: boolean): string {
  return isLive
    ? "The session is still being recorded: what it cost is written at its end."
    : "The session was cut off before it wrote what it cost.";
}

export function costFact(ledger: Ledger, cost: Cost, isLive: boolean): FactProps {
  const label = "Recording cost";
  if (cost.share === null) {
    const why =
      ledger.numbers === null
        ? whyNoCost(isLive)
        : "The session has no figures of what recording cost.";
    return unknownFact(label, why);
  }
  return {
    label,
    value: percent(cost.share).replace(/^\d/, "+$&"),
    unit: "measured",
    hint: cost.parts.map(({ label: of, text, what }) => `${of}: ${text}, ${what}`).join("\n"),
  };
}
