// SPDX-License-Identifier: Apache-2.0
// All sessions below the folder that is served.
import { useEffect, useState } from "react";
import type { Session } from "../../api/types";
import { navigate } from "../../base/address";
import { count, plural } from "../../base/format";
import { useKeys } from "../../base/keys";
import { place } from "../../base/place";
import { FindButton } from "../../widgets/find_button";
import { Badge, Copyable, PanelTools } from "../../widgets/parts";
import { SendHere } from "../../widgets/send_here";
import { Empty, Failed, Skeleton } from "../../widgets/states";
import { TopBar } from "../../widgets/top_bar";
import { SessionFilters } from "./session_filters";
import { SessionGrid } from "./session_list";
import { oldestFirst } from "./session_rows";
import { TagDialog } from "./tag_dialog";
import { clearFilters, isFiltered, useFilters, useSessions } from "./use_sessions";
import "./sessions.css";

export default function Sessions() {
  const filters = useFilters();
  const list = useSessions(filters);
  const [chosen, setChosen] = useState<string[]>([]);
  const [tagged, setTagged] = useState<Session | null>(null);
  const choose = ({ id }: Session) =>
    setChosen((before) =>
      before.includes(id) ? before.filter((one) => one !== id) : [...before, id],
    );
  const compare = () => {
    const [a, b] = oldestFirst(chosen, list.sessions ?? []).map(encodeURIComponent);
    if (chosen.length === 2) navigate(`/compare?a=${a}&b=${b}`);
  };
  const [tools, setTools] = useState<HTMLElement | null>(null);
  useKeys([{ keys: "c", what: "Compare the two chosen sessions", run: compare }]);
  useEffect(() => {
    document.title = "Sessions · GPUFlight";
  }, []);
  const live = list.sessions?.filter(({ state }) => state === "live").length ?? 0;
  const isNothing = list.sessions?.length === 0;
  return (
    <div className="sessions">
      <TopBar
        crumbs={["Sessions"]}
        badge={live > 0 ? <Badge tone="good">{count(live)} live</Badge> : undefined}
        actions={
          <>
            <FindButton what="sessions and actions" />
            <FleetLink />
            <a className="btn" href="#/compare">
              Compare
            </a>
          </>
        }
      />
      <main>
        <h1 className="visually-hidden">Sessions</h1>
        {!(isNothing && !isFiltered(filters)) && (
          <div className="session-tools">
            <SessionFilters filters={filters} />
            <span className="grow" />
            {chosen.length > 0 ? (
              <Chosen number={chosen.length} compare={compare} clear={() => setChosen([])} />
            ) : (
              <span className="faint num" aria-live="polite">
                {list.sessions && plural(list.matches, "session")}
              </span>
            )}
            <span className="panel-tools" ref={setTools} />
          </div>
        )}
        {list.error && <Failed problem={list.error} retry={list.retry} />}
        {!list.error && !list.sessions && <Skeleton rows={10} />}
        {isNothing && (isFiltered(filters) ? <NoMatch /> : <First />)}
        {list.sessions && !isNothing && (
          <PanelTools.Provider value={tools}>
            <SessionGrid
              list={list}
              sessions={list.sessions}
              sort={filters.sort ?? "-start"}
              chosen={chosen}
              onChoose={choose}
              onTag={setTagged}
            />
          </PanelTools.Provider>
        )}
      </main>
      {tagged && <TagDialog session={tagged} onClose={() => setTagged(null)} />}
    </div>
  );
}

// Where the server keeps readings of GPUs by themselves.
function FleetLink() {
  if (place !== "workspace") return null;
  return (
    <a className="btn" href="#/fleet">
      Fleet
    </a>
  );
}

function Chosen({
  number,
  compare,
  clear,
}: {
  number: number;
  compare: () => void;
  clear: () => void;
}) {
  return (
    <span className="session-chosen" role="status">
      {number === 1 && "1 chosen, choose another"}
      {number === 2 && "2 chosen"}
      {number > 2 && `${count(number)} chosen; repeats are added when comparing`}
      <button
        className={number === 2 ? "btn primary" : "btn"}
        disabled={number !== 2}
        onClick={compare}
      >
        Compare
      </button>
      <button className="btn" onClick={clear}>
        Clear
      </button>
    </span>
  );
}

function NoMatch() {
  return (
    <Empty title="No session fits these filters">
      <p>Search looks at the name, command, host, path and id of a session.</p>
      <p>
        <button className="btn" onClick={clearFilters}>
          Show all sessions
        </button>
      </p>
    </Empty>
  );
}

function First() {
  const command = "gpufl trace -- python train.py";
  if (place === "workspace") {
    return (
      <div className="session-first">
        <h2>No sessions yet</h2>
        <SendHere record={command.replace("trace", "trace --upload")}>
          There, this records a program and sends the session at its end:
        </SendHere>
        <p>The session appears here by itself.</p>
      </div>
    );
  }
  return (
    <div className="session-first">
      <h2>No sessions yet</h2>
      <p>Run a program under GPUFlight in the folder that this server shows:</p>
      <pre>
        <Copyable text={command} />
      </pre>
      <p>The session appears here by itself, and grows while the program runs.</p>
      <ul>
        <li>
          <code>gpufl trace --stacks --memory -- python train.py</code> also records source lines
          and allocations.
        </li>
        <li>
          <code>gpufl monitor</code> records clocks, power and memory of all GPUs, and no kernels.
        </li>
        <li>
          <code>gpufl serve DIR</code> shows the sessions of another folder.
        </li>
      </ul>
    </div>
  );
}
