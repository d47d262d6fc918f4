// SPDX-License-Identifier: Apache-2.0
// Links by which people without an account see this session: to make one, and to end them.
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Problem, post, remove, replace } from "../../api/client";
import { useApi } from "../../api/hooks";
import {
  BOXES,
  type Contents,
  contentsText,
  LIFETIMES,
  type NewShare,
  type Share,
  SHARES,
  type Sharing,
  SHARING,
  withImplied,
} from "../../api/shares";
import { wallTime } from "../../base/format";
import { Dialog } from "../../widgets/dialog";
import { Copyable } from "../../widgets/parts";
import { Ready } from "../../widgets/states";
import "./share_dialog.css";

const WEEK = 7 * 24;

export default function ShareDialog({
  session,
  sharing,
  onClose,
}: {
  session: string;
  sharing: Sharing;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [problem, setProblem] = useState<string | null>(null);
  const [made, setMade] = useState<NewShare | null>(null);
  // One request at a time; what went wrong is said, and what holds now is asked for again.
  const change = async (work: () => Promise<void>) => {
    setProblem(null);
    try {
      await work();
    } catch (error) {
      setProblem(error instanceof Problem ? error.message : String(error));
    }
    await client.invalidateQueries({ queryKey: [SHARES] });
    await client.invalidateQueries({ queryKey: [SHARING] });
  };
  return (
    <Dialog title="Share this session" onClose={onClose}>
      {sharing.is_on ? (
        <>
          {made ? (
            <NewLink of={made} />
          ) : (
            <NewLinkForm
              onMake={(hours, contents) =>
                change(async () => {
                  setMade(await post<NewShare>(SHARES, { session, hours, ...contents }));
                })
              }
            />
          )}
          <Links
            session={session}
            onEnd={({ id }) =>
              change(async () => {
                await remove(`${SHARES}/${encodeURIComponent(id)}`);
                if (made?.id === id) setMade(null);
              })
            }
          />
        </>
      ) : (
        <TurnOn
          mayChange={sharing.may_change}
          onTurnOn={() => change(() => replace(SHARING, { is_on: true }))}
        />
      )}
      {problem !== null && (
        <p className="share-problem" role="alert">
          {problem}
        </p>
      )}
      <div className="dialog-buttons">
        <button type="button" className="btn" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function TurnOn({ mayChange, onTurnOn }: { mayChange: boolean; onTurnOn: () => void }) {
  return (
    <>
      <p className="dim">
        Links to sessions are off in this workspace.{" "}
        {mayChange
          ? "With links, members can show a session to people without an account."
          : "An admin of the workspace can turn them on here."}
      </p>
      {mayChange && (
        <button type="button" className="btn primary" onClick={onTurnOn}>
          Let members share sessions by links
        </button>
      )}
    </>
  );
}

function NewLinkForm({ onMake }: { onMake: (hours: number, contents: Contents) => Promise<void> }) {
  const [hours, setHours] = useState(WEEK);
  const [ticked, setTicked] = useState<Contents>({ source: false, command: false, files: false });
  const [isAsking, setIsAsking] = useState(false);
  const contents = withImplied(ticked);
  const make = async (event: FormEvent) => {
    event.preventDefault();
    setIsAsking(true);
    await onMake(hours, contents);
    setIsAsking(false);
  };
  return (
    <form className="share-form" onSubmit={(event) => void make(event)}>
      <p className="dim">
        Whoever has the link sees the figures of this session, without an account: names of kernels,
        scopes, functions and files. Other sessions and notes stay hidden.
      </p>
      <label>
        Valid for{" "}
        <select
          className="text-field"
          value={hours}
          onChange={(event) => setHours(Number(event.target.value))}
        >
          {LIFETIMES.map(({ hours: value, title }) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <fieldset>
        <legend>It also shows</legend>
        {BOXES.map(({ name, title, what }) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={contents[name]}
              disabled={name !== "files" && ticked.files}
              onChange={(event) => setTicked({ ...ticked, [name]: event.target.checked })}
            />
            <span>
              {title} <span className="dim">{what}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <button className="btn primary" disabled={isAsking}>
        Make a link
      </button>
    </form>
  );
}

function NewLink({ of }: { of: NewShare }) {
  return (
    <div className="share-made" role="status">
      <p>
        Copy the link now, by a click on it: it is not shown again. It counts until{" "}
        <b>{wallTime(wallNs(of.expires))}</b>.
      </p>
      <Copyable text={of.link} />
    </div>
  );
}

function Links({ session, onEnd }: { session: string; onEnd: (share: Share) => Promise<void> }) {
  const links = useApi(SHARES, { session });
  return (
    <Ready of={links} rows={2}>
      {({ shares }) => {
        const counting = shares.filter(({ counts }) => counts);
        if (counting.length === 0) return <></>;
        return (
          <>
            <h3 className="share-heading">Links to this session</h3>
            <ul className="share-links">
              {counting.map((share) => (
                <li key={share.id}>
                  <span>
                    until {wallTime(wallNs(share.expires))}, {contentsText(share)}
                    <small className="dim">
                      by {share.made_by},{" "}
                      {share.last_used === null
                        ? "not opened yet"
                        : `opened last ${wallTime(wallNs(share.last_used))}`}
                    </small>
                  </span>
                  <button type="button" className="btn" onClick={() => void onEnd(share)}>
                    End
                  </button>
                </li>
              ))}
            </ul>
          </>
        );
      }}
    </Ready>
  );
}

// "2026-11-19 18:00:00.000 UTC" as the times that pages say.
function wallNs(time: string): string {
  return `${Date.parse(time.replace(" UTC", "Z").replace(" ", "T"))}000000`;
}
