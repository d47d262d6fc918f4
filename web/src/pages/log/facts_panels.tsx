// SPDX-License-Identifier: Apache-2.0
// Facts of the session, its host and its GPUs, as the log has them.
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { ReportSession } from "../../api/types";
import { duration, isUnknown, UNKNOWN, wallDate } from "../../base/format";
import { Copyable, Panel } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { factsOf } from "./ledger";

const TITLES: [keyof ReportSession, string][] = [
  ["command", "Command"],
  ["app", "Program"],
  ["process", "Process"],
  ["pid", "Process id"],
  ["engine", "Engine"],
  ["backend", "Backend"],
  ["host", "Host"],
  ["os", "System"],
  ["container", "Container"],
  ["rank", "Rank"],
  ["world_size", "World size"],
  ["local_rank", "Local rank"],
  ["ended", "Ended"],
  ["id", "Session"],
  ["run", "Run"],
  ["log", "Folder"],
];
const HIDDEN = new Set(["Type", "Time", "Name", "Device", "Again"]);

// What a guest's link does not include, and what a log did not say, is no fact. No process has the id 0.
function isKnown(name: keyof ReportSession, value: unknown): boolean {
  return value !== null && value !== undefined && value !== "" && !(name === "pid" && value === 0);
}

function Row({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{text === "" ? UNKNOWN : <Copyable text={text} />}</dd>
    </div>
  );
}

export function SessionFacts({ session, facts }: { session: string; facts: ReportSession }) {
  const start = wallDate(facts.start_wall_ns);
  const machine = useSection(session, "machine").data;
  return (
    <Panel title="Session">
      <dl className="log-facts">
        {TITLES.filter(([name]) => isKnown(name, facts[name])).map(([name, title]) => (
          <Row
            key={name}
            title={title}
            text={String(facts[name]).replace("not_yet", "not yet").replace("cut_off", "cut off")}
          />
        ))}
        {start && <Row title="Started" text={start.toISOString().replace("T", " ")} />}
        <Row title="Duration" text={duration(facts.duration_ns)} />
        {machine &&
          !isUnknown(machine) &&
          factsOf(machine)
            .filter(([title]) => !HIDDEN.has(title))
            .map(([title, text]) => <Row key={title} title={title} text={text} />)}
      </dl>
    </Panel>
  );
}

export function DeviceFacts({ session }: { session: string }) {
  const health = useApi(sessionPath(session, "/health"));
  return (
    <Panel title="GPUs">
      <Ready of={health} rows={4}>
        {({ devices }) =>
          devices.length === 0 ? (
            <Empty title="The log names no GPU" />
          ) : (
            <>
              {devices.map((device, i) => (
                <details key={i} className="log-device" open={devices.length === 1}>
                  <summary>
                    GPU {device.device} <b>{device.name}</b>
                  </summary>
                  <dl className="log-facts">
                    {factsOf(device)
                      .filter(([title]) => !HIDDEN.has(title))
                      .map(([title, text]) => (
                        <Row key={title} title={title} text={text} />
                      ))}
                  </dl>
                </details>
              ))}
            </>
          )
        }
      </Ready>
    </Panel>
  );
}
