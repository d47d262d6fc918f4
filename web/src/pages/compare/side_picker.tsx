// SPDX-License-Identifier: Apache-2.0
// One side of a comparison: a session, or several that are repeats of one program.
import { type KeyboardEvent, useDeferredValue, useMemo, useState } from "react";
import { useApi } from "../../api/hooks";
import { pathOf, sessionPath } from "../../api/paths";
import type { Session } from "../../api/types";
import { count, duration, wallTime } from "../../base/format";
import { Dialog } from "../../widgets/dialog";
import { Ready } from "../../widgets/states";
import { sessionHref } from "../session_frame";
import { startOf } from "../sessions/session_rows";

export function SidePicker({
  name,
  ids,
  setIds,
  others,
}: {
  name: "A" | "B";
  ids: string[];
  setIds: (ids: string[]) => void;
  // Those of the other side.
  others: string[];
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section className="side" aria-label={`Side ${name}`}>
      <b className="side-letter">{name}</b>
      <div className="side-body">
        {ids.map((id) => (
          <Chosen key={id} id={id} remove={() => setIds(ids.filter((one) => one !== id))} />
        ))}
        <button
          className={ids.length === 0 ? "btn primary" : "text-button"}
          onClick={() => setIsOpen(true)}
        >
          {ids.length === 0 ? "Choose a session" : "Add a repeat"}
        </button>
      </div>
      {isOpen && (
        <PickDialog
          title={ids.length === 0 ? `Choose ${name}` : `Add a repeat of ${name}`}
          taken={[...ids, ...others]}
          likeId={ids[0] ?? others[0]}
          onPick={(id) => {
            setIds([...ids, id]);
            setIsOpen(false);
          }}
          onClose={() => setIsOpen(false)}
        />
      )}
    </section>
  );
}

function Chosen({ id, remove }: { id: string; remove: () => void }) {
  const { data, error } = useApi(sessionPath(id, ""));
  return (
    <div className="side-session">
      <a href={sessionHref(id)}>{data?.app || id}</a>
      {data && (
        <span className="faint">
          {[
            data.rank === null ? "" : `rank ${data.rank}`,
            data.host,
            wallTime(data.start_wall_ns),
            duration(data.duration_ns),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      )}
      {error && <span className="side-problem">{error.title}</span>}
      <button className="text-button" onClick={remove} aria-label={`Remove ${data?.app || id}`}>
        Remove
      </button>
      {data?.command && (
        <span className="side-command mono" title={data.command}>
          {data.command}
        </span>
      )}
    </div>
  );
}

function PickDialog({
  title,
  taken,
  likeId,
  onPick,
  onClose,
}: {
  title: string;
  taken: string[];
  likeId: string | undefined;
  onPick: (id: string) => void;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState("");
  const asked = useDeferredValue(typed.trim());
  const like = useApi(sessionPath(likeId ?? "", ""), {}, { enabled: likeId !== undefined }).data;
  const found = useApi(pathOf("/sessions"), { q: asked || null, limit: 200 }, { keepsLast: true });
  const sorted = useMemo(() => {
    const free = found.data?.sessions.filter(({ id }) => !taken.includes(id)) ?? [];
    const isLike = ({ app }: Session) => like !== undefined && app === like.app;
    return [...free.filter(isLike), ...free.filter((session) => !isLike(session))];
  }, [found.data, like, taken]);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>("input, .pick-row")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[Math.min(Math.max(at + step, 0), all.length - 1)]?.focus();
  };
  return (
    <Dialog title={title} className="pick" onClose={onClose}>
      <div onKeyDown={onKeyDown}>
        <input
          className="text-field"
          type="search"
          autoFocus
          aria-label="Search sessions"
          placeholder="Search name, command, host, path, id"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Ready of={found} rows={6}>
          {({ matches, sessions }) => (
            <div className="pick-list">
              {sorted.map((session) => (
                <button className="pick-row" key={session.id} onClick={() => onPick(session.id)}>
                  <b>{session.app || session.id}</b>
                  {like !== undefined && session.app === like.app && (
                    <span className="chip">same program</span>
                  )}
                  <span className="grow" />
                  <span className="faint num">
                    {[session.host, wallTime(session.start_wall_ns), duration(session.duration_ns)]
                      .filter(Boolean)
                      .join(" · ")}
                  </span>
                  <span className="pick-command mono">{startOf(session)}</span>
                </button>
              ))}
              {sorted.length === 0 && <p className="faint">No session fits.</p>}
              {matches > sessions.length && (
                <p className="faint">
                  {count(matches - sessions.length)} more; search to see them.
                </p>
              )}
            </div>
          )}
        </Ready>
      </div>
    </Dialog>
  );
}
