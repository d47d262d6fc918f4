// SPDX-License-Identifier: Apache-2.0
// What one step did: how busy the GPUs were, and the kernels with the most time.
import { useApi } from "../../api/hooks";
import { sectionPath, sessionPath } from "../../api/paths";
import { count, duration, exactTime, isUnknown, percent } from "../../base/format";
import { Panel } from "../../widgets/parts";
import { PlainTable } from "../../widgets/plain_table";
import { Ready } from "../../widgets/states";
import type { Column } from "../../widgets/table";
import { sessionHref } from "../session_frame";
import { kernelsIn, type Used } from "./step_kernels";
import type { Step } from "./steps";

const NAMES = 12;

function Busy({ session, step }: { session: string; step: Step }) {
  const { data, isRunning } = useApi(sectionPath(session, "gpu_time"), {
    from: step.start_ns,
    to: step.end_ns,
  });
  if (!data) return <p className="dim">{isRunning ? "Adding up how busy the GPU was …" : ""}</p>;
  return (
    <>
      {data.devices.map(({ device, name, busy_ns, busy_share, idle }) => {
        if (isUnknown(busy_ns) || isUnknown(busy_share)) return null;
        const [longest] = isUnknown(idle) ? [] : idle.longest;
        return (
          <p key={device}>
            GPU {device} <span className="dim">{name}</span>: busy{" "}
            <b className="num">{duration(busy_ns)}</b> ({percent(busy_share)}), idle{" "}
            <b className="num">{percent(1 - busy_share)}</b>
            {longest && (
              <>
                {"; "}
                <a
                  href={sessionHref(
                    session,
                    `timeline?from=${longest.start_ns}&to=${longest.end_ns}`,
                  )}
                >
                  longest pause {duration(longest.end_ns - longest.start_ns)}
                </a>
              </>
            )}
          </p>
        );
      })}
    </>
  );
}

function columnsOf(session: string): Column<Used>[] {
  return [
    {
      key: "kernel",
      title: "Kernels with the most time in it",
      value: ({ name }) => name,
      cell: ({ name, label }) => (
        <a href={sessionHref(session, `kernels/${encodeURIComponent(name)}`)} title={name}>
          {label}
        </a>
      ),
    },
    {
      key: "launches",
      title: "Launches",
      value: (row) => row.count,
      cell: (row) => count(row.count),
      isNumber: true,
    },
    {
      key: "busy_ns",
      title: "Time",
      value: ({ busy_ns }) => busy_ns,
      cell: ({ busy_ns }) => duration(busy_ns),
      isNumber: true,
    },
  ];
}

export function StepDetail({
  session,
  step,
  close,
}: {
  session: string;
  step: Step;
  close: () => void;
}) {
  const selection = useApi(sessionPath(session, "/selection"), {
    from: step.start_ns,
    to: step.end_ns,
    names: NAMES,
  });
  return (
    <Panel
      title={`Step ${count(step.number)}`}
      note={`${exactTime(step.start_ns)}, ${duration(step.end_ns - step.start_ns)} long`}
      actions={
        <>
          <a
            className="btn"
            href={sessionHref(session, `timeline?from=${step.start_ns}&to=${step.end_ns}`)}
          >
            See it on the timeline
          </a>
          <button className="btn" onClick={close}>
            Close
          </button>
        </>
      }
    >
      <div className="step-detail">
        <Busy session={session} step={step} />
        <Ready of={selection} rows={4}>
          {(data) => {
            const used = kernelsIn(data.tracks);
            if (used.length === 0) return <p className="dim">No kernel ran in it.</p>;
            return (
              <PlainTable
                name={`step-${step.number}-kernels`}
                rows={used.slice(0, NAMES)}
                columns={columnsOf(session)}
                rowKey={({ name }) => name}
              />
            );
          }}
        </Ready>
      </div>
    </Panel>
  );
}
