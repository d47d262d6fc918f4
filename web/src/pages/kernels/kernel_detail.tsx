// SPDX-License-Identifier: Apache-2.0
// One kernel: how long it takes, what it waits for, and which lines that is.
import { useMemo } from "react";
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { KernelCode, Kernels, LaunchConfig, Report, StallKernel } from "../../api/types";
import { classVariable } from "../../base/kernel_class";
import {
  bytes,
  count,
  duration,
  isUnknown,
  percent,
  plural,
  timeQuantity,
  shownName,
  sentence,
} from "../../base/format";
import { Copyable, type FactProps, Facts, Panel, Swatch } from "../../widgets/parts";
import { Empty, Ready, Running, Skeleton } from "../../widgets/states";
import { sessionHref } from "../session_frame";
import { CallersPanel } from "./callers_panel";
import { CodePanel } from "./code_panel";
import { statisticsText } from "./distribution_sketch";
import {
  type AnyGroup,
  configsOfKernel,
  configWords,
  findKernel,
  kernelKey,
  splitSection,
} from "./groups";
import { LaunchesPanel } from "./launches_panel";
import { limitedBy, sharedBytesOf } from "./occupancy";
import { OccupancyPanel } from "./occupancy_panel";
import { errorText, stalledKernel, StallsPanel } from "./stalls_panel";
import { isWaiting, stallWords } from "./stalls";
import "./kernels.css";
import "./kernel_detail.css";

function factsOf(
  kernel: AnyGroup,
  config: LaunchConfig | undefined,
  stalled: StallKernel | null,
  stalls: Report["stalls"] | undefined,
): FactProps[] {
  const time = kernel.duration_ns;
  const total = timeQuantity(time.total);
  const typical = timeQuantity(time.median ?? time.mean);
  const main = stalled?.stalls.find(({ reason }) => isWaiting(reason));
  const noStall =
    stalls && isUnknown(stalls)
      ? `${stalls.unknown}. ${stalls.hint ?? ""}`
      : "No sample of this kernel";
  const shared = config ? sharedBytesOf(config) : null;
  return [
    {
      label: "Time",
      value: total.value,
      unit: `${total.unit} · ${percent(kernel.share)} of kernels`,
    },
    { label: "Launches", value: count(time.count) },
    {
      label: "Typical launch",
      value: typical.value,
      unit: `${typical.unit} · p99 ${duration(time.p99)}`,
      hint: statisticsText(time),
    },
    main
      ? {
          label: "Main stall",
          value: sentence(stallWords(main.reason)).replace(/\.$/, ""),
          unit: percent(main.share.value),
          hint: `${main.meaning} ${errorText(main.share)}`,
        }
      : { label: "Main stall", value: null, hint: noStall },
    config && config.occupancy !== null
      ? {
          label: "Occupancy",
          value: percent(config.occupancy),
          unit: limitedBy(config) === "" ? "" : `· limited ${limitedBy(config)}`,
          hint: "Theoretical: what fits on a multiprocessor, and what limits it",
        }
      : { label: "Occupancy", value: null, hint: "Not recorded for this kernel" },
    config && config.registers !== null
      ? {
          label: "Registers",
          value: count(config.registers),
          unit: `per thread · ${bytes(shared)} shared`,
          hint:
            shared === null
              ? `${configWords(config)}; its shared memory was not recorded`
              : `${configWords(config)}; ${bytes(shared)} of shared memory per block`,
        }
      : { label: "Registers", value: null, hint: "Not recorded for this kernel" },
  ];
}

function sampleNote(stalled: StallKernel | null, code: KernelCode): string {
  if (code.samples === 0) return "";
  const samples = plural(code.samples, "sample");
  const share = stalled?.share;
  if (share === undefined || isUnknown(share)) return samples;
  const windows = plural(share.windows, "window");
  return `${samples} in ${windows}; ${percent(share.value)} of the run, ${errorText(share)}`;
}

function Detail({
  session,
  kernel,
  section,
}: {
  session: string;
  kernel: AnyGroup;
  section: Kernels | undefined;
}) {
  const name = kernelKey(kernel);
  const devices = useSection(session, "devices");
  const stalls = useSection(session, "stalls");
  const code = useApi(sessionPath(session, "/code"), { kernel: name });
  const configs = useMemo(() => configsOfKernel(section, name), [section, name]);
  const stalled = stalledKernel(stalls.data, name);
  return (
    <>
      <Facts of={factsOf(kernel, configs[0]?.config, stalled, stalls.data)} />
      {code.data ? (
        <CodePanel code={code.data} note={sampleNote(stalled, code.data)} />
      ) : (
        <Panel title="Source and SASS">
          <Ready of={code} rows={8}>
            {() => null}
          </Ready>
        </Panel>
      )}
      <div className="kernel-two">
        <div className="kernel-column">
          <LaunchesPanel session={session} kernel={name} time={kernel.duration_ns} />
          {stalls.data ? (
            <StallsPanel stalls={stalls.data} name={name} />
          ) : (
            <Panel title="Stalls by reason">
              <Ready of={stalls}>{() => null}</Ready>
            </Panel>
          )}
        </div>
        <div className="kernel-column">
          {section && devices.data ? (
            <OccupancyPanel configs={configs} devices={devices.data} />
          ) : (
            <Panel title="Occupancy by resource">
              <Skeleton rows={5} />
            </Panel>
          )}
          <CallersPanel session={session} code={code} />
        </div>
      </div>
    </>
  );
}

export default function KernelDetail({
  session,
  kernel: wanted,
}: {
  session: string;
  kernel: string;
}) {
  const list = useApi(sessionPath(session, "/kernels"), { limit: 10_000 });
  const loaded = useSection(session, "kernels");
  const { section } = splitSection(loaded);
  const kernel = findKernel(wanted, list.data, section);
  const all = sessionHref(session, "kernels");
  if (!kernel) {
    if (!list.data && !list.error) return <Running progress={list.progress} />;
    if (!loaded.data && !loaded.error) return <Running progress={loaded.progress} />;
    return (
      <Panel>
        <Empty title="There is no such kernel in this session">
          <p className="mono">{wanted}</p>
          <a href={all}>All kernels</a>
        </Empty>
      </Panel>
    );
  }
  const fullName = kernel.full_name ?? kernel.label;
  return (
    <div className="kernel-detail">
      <header className="kernel-title">
        <a href={all}>Kernels</a>
        <span className="faint">/</span>
        <h1>
          <Copyable text={fullName}>
            <Swatch color={classVariable(kernel.class)} />
            {shownName(kernel.label)}
          </Copyable>
        </h1>
        <span className="dim">{kernel.class}</span>
        {kernel.full_name !== undefined && (
          <details>
            <summary>full name</summary>
            <p className="mono">{fullName}</p>
          </details>
        )}
      </header>
      <Detail key={kernelKey(kernel)} session={session} kernel={kernel} section={section} />
    </div>
  );
}
