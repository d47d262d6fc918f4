// SPDX-License-Identifier: Apache-2.0
// The GPUs of a workspace, by host, as they were during the last hour.
import { useEffect, useState } from "react";
import { useApi } from "../../api/hooks";
import { pathOf } from "../../api/paths";
import { count, plural } from "../../base/format";
import { place } from "../../base/place";
import { Badge, Panel } from "../../widgets/parts";
import { SendHere } from "../../widgets/send_here";
import { Empty, Failed, Skeleton } from "../../widgets/states";
import { TopBar } from "../../widgets/top_bar";
import { hostsOf, isSilent } from "./fleet_data";
import { GpuCard } from "./gpu_card";
import "./fleet.css";

const EVERY_MS = 15_000;
// Each asks for its own readings.
const AT_ONCE = 64;
const MOST = 1000;

function None() {
  if (place !== "workspace") {
    return (
      <Empty title="No GPU has readings here">
        <p>
          This server shows a folder. One that was started with <code>gpufl serve --data DIR</code>{" "}
          keeps readings of all GPUs whose machines send to it.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No GPU has sent readings yet">
      <p>This page shows clocks, power, memory and errors of every GPU whose machine sends here.</p>
      <SendHere record="gpufl monitor --upload">
        There, this samples all GPUs and sends as it goes. Where the monitor runs already,{" "}
        <code>gpufl-agent FOLDER</code> sends what is in its folder.
      </SendHere>
      <p>The GPUs appear here by themselves.</p>
    </Empty>
  );
}

export default function Fleet() {
  const { data, error, retry } = useApi(pathOf("/devices"), { limit: MOST }, { everyMs: EVERY_MS });
  const [shown, setShown] = useState(AT_ONCE);
  useEffect(() => {
    document.title = "Fleet · GPUFlight";
  }, []);
  const nowMs = Date.now();
  const hosts = hostsOf(data?.devices ?? [], nowMs);
  const all = hosts.flatMap(({ devices }) => devices);
  const visible = new Set(all.slice(0, shown));
  const silent = all.filter((device) => isSilent(device, nowMs)).length;
  return (
    <div className="fleet">
      <TopBar
        crumbs={["Fleet"]}
        badge={silent > 0 ? <Badge tone="warn">{count(silent)} silent</Badge> : undefined}
        actions={
          <a className="btn" href="#/sessions">
            Sessions
          </a>
        }
      />
      <main>
        <h1 className="visually-hidden">Fleet</h1>
        {error && <Failed problem={error} retry={retry} />}
        {!error && !data && <Skeleton rows={8} />}
        {data && all.length === 0 && <None />}
        {hosts.map(({ host, devices, isSilent: isHostSilent }) => {
          const cards = devices.filter((device) => visible.has(device));
          if (cards.length === 0) return null;
          return (
            <Panel
              key={host}
              title={host || "unnamed host"}
              note={`${plural(devices.length, "GPU")}${isHostSilent ? ", silent" : ""}`}
            >
              <div className="gpu-grid">
                {cards.map((device) => (
                  <GpuCard key={device.id} device={device} isSilent={isSilent(device, nowMs)} />
                ))}
              </div>
            </Panel>
          );
        })}
        {all.length > shown && (
          <button className="btn" onClick={() => setShown(shown + AT_ONCE)}>
            Show more of {plural(all.length, "GPU")}
          </button>
        )}
      </main>
    </div>
  );
}
