// SPDX-License-Identifier: Apache-2.0
import { type KeyboardEvent, useEffect, useState } from "react";
import { Panel } from "../../widgets/parts";
import { Failed, Skeleton } from "../../widgets/states";
import {
  LONGEST_TEXT,
  type NotesEditing,
  problemText,
  type ReadNotes,
  tagsOf,
  useNotes,
} from "../sessions/notes";

export function NotesPanel({ session }: { session: string }) {
  const notes = useNotes(session);
  return (
    <Panel title="Notes" note="kept on the server's machine, not beside the session">
      {notes.error && <Failed problem={notes.error} retry={() => void notes.readAgain()} />}
      {!notes.error && !notes.read && <Skeleton rows={3} />}
      {notes.read && <Editor notes={notes} read={notes.read} />}
    </Panel>
  );
}

function Editor({ notes, read }: { notes: NotesEditing; read: ReadNotes }) {
  const [base, setBase] = useState(read);
  const [text, setText] = useState(read.text);
  const [tags, setTags] = useState(read.tags.join(", "));
  const [theirs, setTheirs] = useState<ReadNotes | null>(null);
  const [isSaved, setIsSaved] = useState(false);
  const isChanged = text !== base.text || tagsOf(tags).join() !== base.tags.join();
  useEffect(() => {
    if (isChanged) setIsSaved(false);
  }, [isChanged]);
  const save = async () => {
    if (!isChanged) return;
    const saved = await notes.save({ text, tags: tagsOf(tags) }, base.etag);
    if (!saved) return;
    setBase(saved);
    setTheirs(null);
    setIsSaved(true);
  };
  const readTheirs = async () => {
    const found = await notes.readAgain();
    if (!found) return;
    setBase(found);
    setTheirs(found);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void save();
  };
  return (
    <div className="log-notes" onKeyDown={onKeyDown}>
      <label>
        <span className="faint">What you want to remember about this session</span>
        <textarea
          className="text-field"
          rows={4}
          maxLength={LONGEST_TEXT}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <label>
        <span className="faint">Tags, with commas between</span>
        <input
          className="text-field"
          value={tags}
          placeholder="baseline, before fusion"
          onChange={(event) => setTags(event.target.value)}
        />
      </label>
      <div className="log-notes-foot">
        <button
          className={isChanged ? "btn primary" : "btn"}
          disabled={!isChanged || notes.isSaving}
          onClick={() => void save()}
        >
          Save
        </button>
        <span role="status" className={notes.saveProblem ? "log-problem" : "faint"}>
          {notes.saveProblem && problemText(notes.saveProblem)}
          {!notes.saveProblem && isSaved && "Saved"}
        </span>
        {notes.saveProblem?.status === 412 && (
          <button className="text-button" onClick={() => void readTheirs()}>
            Read theirs
          </button>
        )}
      </div>
      {theirs && (
        <blockquote className="log-theirs">
          <small>
            Theirs{theirs.tags.length > 0 && `, with the tags ${theirs.tags.join(", ")}`}
          </small>
          {theirs.text || "no text"}
        </blockquote>
      )}
    </div>
  );
}
