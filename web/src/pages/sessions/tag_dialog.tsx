// SPDX-License-Identifier: Apache-2.0
import { type FormEvent, useState } from "react";
import type { Session } from "../../api/types";
import { Dialog } from "../../widgets/dialog";
import { Failed, Skeleton } from "../../widgets/states";
import { type NotesEditing, problemText, type ReadNotes, tagsOf, useNotes } from "./notes";

export function TagDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const notes = useNotes(session.id);
  return (
    <Dialog title={`Tags of ${session.app || session.id}`} onClose={onClose}>
      {notes.error && <Failed problem={notes.error} retry={() => void notes.readAgain()} />}
      {!notes.error && !notes.read && <Skeleton rows={2} />}
      {notes.read && <TagForm notes={notes} read={notes.read} onClose={onClose} />}
    </Dialog>
  );
}

function TagForm({
  notes,
  read,
  onClose,
}: {
  notes: NotesEditing;
  read: ReadNotes;
  onClose: () => void;
}) {
  const [base, setBase] = useState(read);
  const [text, setText] = useState(read.tags.join(", "));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await notes.save({ text: base.text, tags: tagsOf(text) }, base.etag)) onClose();
  };
  const readTheirs = async () => {
    const theirs = await notes.readAgain();
    if (!theirs) return;
    setBase(theirs);
    setText(tagsOf([...theirs.tags, text].join(",")).join(", "));
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <label className="tag-field">
        Tags, with commas between
        <input
          className="text-field"
          value={text}
          autoFocus
          placeholder="baseline, before fusion"
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className="tag-preview" aria-hidden="true">
        {tagsOf(text).map((tag) => (
          <span className="chip" key={tag}>
            {tag}
          </span>
        ))}
      </div>
      {notes.saveProblem && (
        <p className="tag-problem" role="alert">
          {problemText(notes.saveProblem)}{" "}
          {notes.saveProblem.status === 412 && (
            <button type="button" className="text-button" onClick={() => void readTheirs()}>
              Add theirs
            </button>
          )}
        </p>
      )}
      <div className="dialog-buttons">
        <button type="button" className="btn" onClick={onClose}>
          Cancel
        </button>
        <button className="btn primary" disabled={notes.isSaving}>
          Save
        </button>
      </div>
    </form>
  );
}
