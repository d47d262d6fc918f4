// SPDX-License-Identifier: Apache-2.0
// The first page of a session: six facts, what to do first, and how far both can be trusted.
import { useMemo } from "react";
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import { isUnknown } from "../../base/format";
import { type FactProps, Facts, Panel } from "../../widgets/parts";
import { Ready } from "../../widgets/states";
import { Activity } from "./activity";
import { InsightList } from "./insight_list";
import { kernelsKnownTo } from "./insight_words";
import { missingWaitLines, notRecorded } from "./not_recorded";
import {
  busyFact,
  costFact,
  costOf,
  idleFact,
  kernelFact,
  memoryFact,
  stepFact,
  whyUnknown,
} from "./summary";
import { runHref } from "../session_frame";
import { CostPanel, LedgerPanel, NotRecordedPanel } from "./trust";
import "./overview.css";

const waiting = (label: string): FactProps => ({ label, value: " ", hint: "Being read" });

function fact<T>(label: string, data: T | undefined, of: (data: T) => FactProps): FactProps {
  return data === undefined ? waiting(label) : of(data);
}

export default function Overview({ session }: { session: string }) {
  const detail = useApi(sessionPath(session, "")).data;
  const isLive = detail?.state === "live";
  const kernels = useApi(sessionPath(session, "/kernels"), { limit: 1 });
  const health = useApi(sessionPath(session, "/health"));
  const insights = useSection(session, "insights");
  const iterations = useSection(session, "iterations");
  const gpu = useSection(session, "gpu_time");
  const memory = useSection(session, "memory");
  const ledger = useSection(session, "ledger");
  const coverage = useSection(session, "coverage");
  const capabilities = useSection(session, "capabilities");
  const stalls = useSection(session, "stalls");
  const latency = useSection(session, "launch_latency");
  const groups = useSection(session, "kernels");
  const waits = useSection(session, "waits");

  const cost =
    ledger.data && coverage.data ? costOf(ledger.data.numbers, coverage.data) : undefined;
  const kernelsUnknown = groups.data && isUnknown(groups.data) ? groups.data : null;
  const facts = [
    fact("Step", iterations.data, stepFact),
    fact("GPU busy", gpu.data, busyFact),
    fact("Idle between work", gpu.data, idleFact),
    kernelsUnknown
      ? { label: "Kernels", value: null, hint: whyUnknown(kernelsUnknown) }
      : fact("Kernels", kernels.data, kernelFact),
    fact("GPU memory", memory.data, (data) => memoryFact(data, health.data)),
    fact("Recording cost", cost, (data) => costFact(ledger.data!, data, isLive)),
  ];
  const known = groups.data && !isUnknown(groups.data) ? groups.data : undefined;
  const hasLines = known !== undefined && !isUnknown(known.by_line) && known.by_line.length > 0;
  const figures: [string, unknown][] = [
    ["GPU work", kernelsUnknown],
    ["Steps", iterations.data],
    ["Lines of code", known?.by_line],
    ["Lines that wait", waits.data && missingWaitLines(waits.data, hasLines)],
    ["Allocations", memory.data],
    ["Stalls", stalls.data],
    ["Delay in the driver", latency.data?.driver_ns],
    ["Energy", gpu.data?.energy_joules],
  ];

  const knows = useMemo(() => kernelsKnownTo(groups.data), [groups.data]);

  return (
    <div className="overview">
      {detail && detail.rank !== null && (detail.world_size ?? 0) > 1 && (
        <p className="overview-run">
          This is rank {detail.rank} of {detail.world_size}:{" "}
          <a href={runHref(detail.run)}>All ranks</a>
        </p>
      )}
      <Facts of={facts} />
      {insights.data ? (
        <InsightList
          session={session}
          insights={insights.data}
          knows={knows}
          hasHealth={(health.data?.metrics.length ?? 0) > 0}
          whyNone={kernelsUnknown ? whyUnknown(kernelsUnknown) : null}
        />
      ) : (
        <Panel title="What to do first">
          <Ready of={insights} rows={6}>
            {() => null}
          </Ready>
        </Panel>
      )}
      {gpu.data && <Activity session={session} gpu={gpu.data} />}
      <div className="overview-three">
        {ledger.data ? (
          <LedgerPanel session={session} ledger={ledger.data} coverage={coverage.data} />
        ) : (
          <Panel title="Is it complete?">
            <Ready of={ledger}>{() => null}</Ready>
          </Panel>
        )}
        {cost ? (
          <CostPanel cost={cost} isLive={isLive} />
        ) : (
          <Panel title="What recording cost">
            <Ready of={coverage}>{() => null}</Ready>
          </Panel>
        )}
        {capabilities.data ? (
          <NotRecordedPanel list={notRecorded(capabilities.data, figures)} />
        ) : (
          <Panel title="What was not recorded">
            <Ready of={capabilities}>{() => null}</Ready>
          </Panel>
        )}
      </div>
    </div>
  );
}
