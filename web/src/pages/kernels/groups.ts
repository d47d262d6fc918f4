// SPDX-License-Identifier: Apache-2.0
// Kernels in groups: what a session can be grouped by, and the rows of each grouping.
import type {
  KernelByConfig,
  KernelClass,
  KernelGroup,
  KernelList,
  Kernels,
  LaunchConfig,
  Report,
  Stats,
} from "../../api/types";
import { isUnknown, sentence, UNKNOWN, type Unknown } from "../../base/format";

// What the groups of all lists have.
export type AnyGroup = KernelGroup & { class?: KernelClass; config?: LaunchConfig };

// What a name is known by in addresses and requests: labels of the index can be the same for two.
export function kernelKey({ label, full_name }: { label: string; full_name?: string }): string {
  return full_name ?? label;
}

export const GROUPINGS = [
  { by: "name", title: "Name", member: "by_name" },
  { by: "operator", title: "Operator", member: "by_op" },
  { by: "module", title: "Module", member: "by_module" },
  { by: "line", title: "Line", member: "by_line" },
  { by: "scope", title: "Scope", member: "by_scope" },
  { by: "class", title: "Class", member: "by_class" },
  { by: "config", title: "Configuration", member: "by_config" },
  { by: "stream", title: "Stream", member: "by_stream" },
] as const;
export type GroupBy = (typeof GROUPINGS)[number]["by"];

// Of which each group leads to its kernels; null: its rows lead elsewhere. What the server calls it.
export function groupParameter(by: GroupBy): string | null {
  if (by === "name" || by === "class" || by === "config") return null;
  return GROUPINGS.find((grouping) => grouping.by === by)!.member.slice("by_".length);
}

export function groupPath(by: GroupBy, group: string): string {
  return `kernels?by=${by}&group=${encodeURIComponent(group)}`;
}

// Where a row leads, among the session's pages; null: nowhere.
export function pathOfRow(
  by: GroupBy,
  { kernel, label, fullName, isRest }: Pick<KernelRow, "kernel" | "label" | "fullName" | "isRest">,
): string | null {
  if (kernel !== null) return `kernels/${encodeURIComponent(kernel)}`;
  if (by === "class") return `kernels?q=${encodeURIComponent(classFilter(label))}`;
  if (groupParameter(by) === null || isRest) return null;
  return groupPath(by, fullName);
}

export interface KernelRow {
  // Unique in the table.
  id: string;
  label: string;
  fullName: string;
  kernelClass: string | null;
  // Of the configuration with the most time, and how many there are.
  config: LaunchConfig | null;
  configs: number;
  share: number;
  time: Stats;
  // What to open, where a row is one kernel.
  kernel: string | null;
  isRest: boolean;
}

const LABELS_HINT = "import gpufl.torch and call gpufl.torch.attach() before training";

// Why there is no such grouping and what would record it; null: there is one.
export function whyNot(section: Kernels | undefined, by: GroupBy): string | null {
  if (by === "name") return null;
  if (!section) return "The session is being read.";
  const { member } = GROUPINGS.find((grouping) => grouping.by === by)!;
  const groups = section[member];
  if (groups === undefined) return `PyTorch was not labelled: ${LABELS_HINT}.`;
  if (isUnknown(groups))
    return sentence(groups.unknown) + (groups.hint ? ` ${sentence(groups.hint)}` : "");
  if (by === "scope" && groups.every((group) => group.is_rest)) {
    return 'No scope has kernels: wrap parts of the program in `with gpufl.Scope("name"):`.';
  }
  return null;
}

// An engine that records no GPU work has no such section, only why.
export function splitSection({ data }: { data: Report["kernels"] | undefined }): {
  section: Kernels | undefined;
  unknown: Unknown | null;
} {
  if (data === undefined) return { section: undefined, unknown: null };
  return isUnknown(data) ? { section: undefined, unknown: data } : { section: data, unknown: null };
}

export function listOf<T>(groups: T[] | { unknown: string } | undefined): T[] {
  return Array.isArray(groups) ? groups : [];
}

// A configuration's group has the kernel's full name; short names stand before the "<<<".
function nameOfConfig({ label, full_name }: AnyGroup): string {
  const at = label.lastIndexOf(" <<<");
  return full_name ?? (at < 0 ? label : label.slice(0, at));
}

interface ConfigsOf {
  main: LaunchConfig | null;
  count: number;
}

export function configsByKernel(section: Kernels | undefined): Map<string, ConfigsOf> {
  const found = new Map<string, ConfigsOf>();
  for (const group of listOf(section?.by_config)) {
    const name = nameOfConfig(group);
    const entry = found.get(name);
    // Most time first, as the report has them.
    if (entry) entry.count += 1;
    else found.set(name, { main: group.config ?? null, count: 1 });
  }
  return found;
}

export function configsOfKernel(section: Kernels | undefined, kernel: string): KernelByConfig[] {
  return listOf(section?.by_config).filter((group) => nameOfConfig(group) === kernel);
}

function toRow(group: AnyGroup, id: string): KernelRow {
  return {
    id,
    label: group.label,
    fullName: group.full_name ?? group.label,
    kernelClass: group.class ?? null,
    config: group.config ?? null,
    configs: group.config ? 1 : 0,
    share: group.share,
    time: group.duration_ns,
    kernel: null,
    isRest: group.is_rest ?? false,
  };
}

// Of a session that is larger than what can be analysed, or that grew since, the section has a part.
function isPart(section: Kernels | undefined, list: KernelList | undefined): boolean {
  return section !== undefined && list !== undefined && section.count < list.count;
}

// A row for each kernel, with the configurations that the session has of it.
export function kernelRows(kernels: AnyGroup[], section: Kernels | undefined): KernelRow[] {
  const configs = configsByKernel(section);
  return kernels.map((group) => {
    const kernel = kernelKey(group);
    const of = configs.get(kernel);
    return { ...toRow(group, kernel), kernel, config: of?.main ?? null, configs: of?.count ?? 0 };
  });
}

// By name the index is there first; the report adds labels that tell twins apart, and configurations.
export function rowsBy(
  by: GroupBy,
  list: KernelList | undefined,
  section: Kernels | undefined,
): KernelRow[] {
  if (by === "name") {
    const named = section && !isPart(section, list) ? section.by_name : [];
    const groups: AnyGroup[] = named.length > 0 ? named : (list?.by_name ?? []);
    return kernelRows(groups, section);
  }
  const { member } = GROUPINGS.find((grouping) => grouping.by === by)!;
  return listOf<AnyGroup>(section?.[member]).map((group, i) => {
    const row = toRow(group, `${i}`);
    if (by === "config") return { ...row, kernel: nameOfConfig(group) };
    return by === "class" ? { ...row, kernelClass: group.label } : row;
  });
}

// "class:copy" is the class, other words are parts of the name; all must fit.
export function filterRows(rows: KernelRow[], text: string): KernelRow[] {
  const classes: string[] = [];
  const rest = text.replace(/\bclass:(?:"([^"]*)"|(\S+))/g, (_, quoted?: string, word?: string) => {
    classes.push((quoted ?? word ?? "").toLowerCase());
    return "";
  });
  const words = rest.toLowerCase().split(/\s+/).filter(Boolean);
  if (classes.length === 0 && words.length === 0) return rows;
  return rows.filter((row) => {
    const name = `${row.label} ${row.fullName}`.toLowerCase();
    const isOfClass = classes.every((wanted) => (row.kernelClass ?? "").toLowerCase() === wanted);
    return isOfClass && words.every((word) => name.includes(word));
  });
}

export function classFilter(kernelClass: string): string {
  return /\s/.test(kernelClass) ? `class:"${kernelClass}"` : `class:${kernelClass}`;
}

const sizes = (dimensions: number[] | null) => {
  if (dimensions === null) return UNKNOWN;
  const used = [...dimensions];
  while (used.length > 1 && used[used.length - 1] === 1) used.pop();
  return used.join("×");
};

// "<<<3072, 128>>>", as CUDA C++ has it.
export function configText(config: LaunchConfig): string {
  if (config.grid === null && config.block === null) return UNKNOWN;
  return `<<<${sizes(config.grid)}, ${sizes(config.block)}>>>`;
}

// "1 block of 256 threads"
export function configWords(config: LaunchConfig): string {
  const blocks = sizes(config.grid);
  const threads = sizes(config.block);
  const word = (size: string, one: string) => (size === "1" ? one : `${one}s`);
  return `${blocks} ${word(blocks, "block")} of ${threads} ${word(threads, "thread")}`;
}

// null: it was not recorded.
export function threadsOf({ block }: LaunchConfig): number | null {
  return block && block[0] * block[1] * block[2];
}

// The kernel that an address means: its full name, its label in the report, or that of the index.
export function findKernel(
  kernel: string,
  list: KernelList | undefined,
  section: Kernels | undefined,
): AnyGroup | null {
  const named: AnyGroup[] = section?.by_name ?? [];
  const indexed: AnyGroup[] = list?.by_name ?? [];
  const all = isPart(section, list) ? [...indexed, ...named] : [...named, ...indexed];
  const byKey = (key: string) => all.find((group) => kernelKey(group) === key);
  // Labels of the report tell twins apart, those of the index may not.
  const labelled = [...named, ...indexed].find(({ label }) => label === kernel);
  return byKey(kernel) ?? (labelled && byKey(kernelKey(labelled))) ?? null;
}
