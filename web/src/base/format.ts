// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. A value that is not known is "–", never 0.

export const UNKNOWN = "–";

export interface Quantity {
  value: string;
  unit: string;
}

// As many digits as make four significant ones, without zeros that say nothing.
function digits(value: number, significant = 4): string {
  if (value === 0) return "0";
  const whole = Math.floor(Math.log10(Math.abs(value))) + 1;
  const decimals = Math.max(0, significant - Math.max(whole, 1));
  return grouped(value, decimals);
}

function grouped(value: number, decimals: number): string {
  return value.toLocaleString("en-US", {
    minimumFractionDigits: 0,
    maximumFractionDigits: decimals,
  });
}

const TIMES: [number, string][] = [
  [3.6e12, "h"],
  [6e10, "min"],
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];

export function timeQuantity(ns: number | null | undefined): Quantity {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return { value: UNKNOWN, unit: "" };
  const size = Math.abs(ns);
  for (const [factor, unit] of TIMES) {
    // Ten minutes and more are minutes, ten hours and more hours.
    const least = unit === "h" || unit === "min" ? 10 * factor : factor;
    if (size >= least) return { value: digits(ns / factor), unit };
  }
  return { value: digits(ns), unit: "ns" };
}

// Of a column: two decimals, so that decimal points stand below one another.
export function columnTime(ns: number): Quantity {
  const size = Math.abs(ns);
  for (const [factor, unit] of TIMES) {
    const least = unit === "h" || unit === "min" ? 10 * factor : factor;
    if (size >= least) return { value: fixed(ns / factor), unit };
  }
  // Clocks have no more.
  return { value: grouped(ns, 0), unit: "ns" };
}

function fixed(value: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

export function duration(ns: number | null | undefined): string {
  const { value, unit } = timeQuantity(ns);
  return unit === "" ? value : `${value} ${unit}`;
}

// From here on moments are told as on a clock.
export const CLOCK_FROM_NS = 6e11;
const SECOND_PLACES = 9;

// "0:12:30", "27:46:40.000 5": hours, minutes and seconds, with so many decimals.
export function clockTime(ns: number, decimals: number): string {
  // Rounded first: a nanosecond that is carried may make a second.
  const size = Math.round(Math.abs(ns));
  const seconds = Math.floor(size / 1e9);
  const two = (value: number) => String(value).padStart(2, "0");
  const whole = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  const rest = String(size - seconds * 1e9).padStart(SECOND_PLACES, "0");
  const groups = rest.slice(0, decimals).match(/.{1,3}/g) ?? [];
  return `${ns < 0 ? "−" : ""}${whole}${groups.length > 0 ? "." : ""}${groups.join(" ")}`;
}

// When something was, as exactly as people need it: "38.2 ms", "1:02:03".
export function moment(ns: number | null | undefined): string {
  return Math.abs(ns ?? 0) >= CLOCK_FROM_NS ? clockTime(ns ?? 0, 0) : duration(ns);
}

// Every nanosecond: "104.512 386 ms".
export function exactTime(ns: number): string {
  const size = Math.abs(ns);
  if (size >= CLOCK_FROM_NS) return clockTime(ns, SECOND_PLACES);
  const found = TIMES.find(([factor, unit]) => size >= factor && unit !== "h" && unit !== "min");
  if (!found) return `${ns} ns`;
  const [factor, unit] = found;
  const places = Math.round(Math.log10(factor));
  const text = (size / factor).toFixed(places);
  const [whole = "0", part = ""] = text.split(".");
  const groups = part.match(/.{1,3}/g) ?? [];
  const head = groups.shift();
  const sign = ns < 0 ? "−" : "";
  return `${sign}${grouped(Number(whole), 0)}${head ? `.${head}` : ""}${groups.map((g) => ` ${g}`).join("")} ${unit}`;
}

const SIZES: [number, string][] = [
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
];

export function bytesQuantity(bytes: number | null | undefined): Quantity {
  if (bytes === null || bytes === undefined) return { value: UNKNOWN, unit: "" };
  for (const [factor, unit] of SIZES) {
    if (Math.abs(bytes) >= factor) return { value: digits(bytes / factor, 3), unit };
  }
  return { value: grouped(bytes, 0), unit: "B" };
}

export function bytes(count: number | null | undefined): string {
  const { value, unit } = bytesQuantity(count);
  return unit === "" ? value : `${value} ${unit}`;
}

// Rates are of the decimal kind, as data sheets have them.
export function bytesPerSecond(rate: number | null | undefined): string {
  if (rate === null || rate === undefined) return UNKNOWN;
  for (const [factor, unit] of [
    [1e12, "TB/s"],
    [1e9, "GB/s"],
    [1e6, "MB/s"],
    [1e3, "kB/s"],
  ] as const) {
    if (rate >= factor) return `${digits(rate / factor, 3)} ${unit}`;
  }
  return `${digits(rate, 3)} B/s`;
}

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : grouped(value, 0);
}

// "1.2M", where there is no room for every digit.
export function compact(value: number): string {
  return value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });
}

// 0.1234 is "12.3%", 0.09 "9.0%": columns of shares line up.
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return UNKNOWN;
  const value = share * 100;
  if (value !== 0 && Math.abs(value) < 0.1) return value > 0 ? "<0.1%" : ">−0.1%";
  const decimals = value === 0 || Math.abs(value) >= 99.95 ? 0 : 1;
  const text = value.toLocaleString("en-US", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return `${text}%`;
}

export function plain(value: number | null | undefined, significant = 4): string {
  return value === null || value === undefined ? UNKNOWN : digits(value, significant);
}

// Programs may call things by nothing at all, and in several lines.
export function shownName(name: string): string {
  return name.trim() === "" ? "(no name)" : name.replace(/\s*[\r\n]\s*/g, " ");
}

// Reports in text have no letter for millionths, and no space before units of time. Names of kernels
// that end like one stay.
export function withMicro(text: string): string {
  return text.replace(
    /(?<![\w.,])(\d[\d,.]*) ?(ns|us|ms|s)\b/g,
    (_, number: string, unit: string) => `${number} ${unit === "us" ? "µs" : unit}`,
  );
}

// What the analysis says in half a sentence: with a capital and a full stop.
export function sentence(text: string): string {
  if (text === "") return "";
  const first = text[0]!.toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

// "1 kernel", "2 kernels".
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

// Nanoseconds since 1970 as text, beyond what a number holds.
export function wallDate(ns: string | null): Date | null {
  return ns === null ? null : new Date(Number(BigInt(ns) / 1_000_000n));
}

export function wallTime(ns: string | null): string {
  const date = wallDate(ns);
  if (!date) return UNKNOWN;
  return date.toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: date.getFullYear() === new Date().getFullYear() ? undefined : "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  } as Intl.DateTimeFormatOptions);
}

// What can be absent from a report: a figure, or why there is none.
export interface Unknown {
  unknown: string;
  hint?: string;
}

export function isUnknown(value: unknown): value is Unknown {
  return typeof value === "object" && value !== null && "unknown" in value;
}
