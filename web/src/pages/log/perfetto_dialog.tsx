// SPDX-License-Identifier: Apache-2.0
import { type FormEvent, useEffect, useRef, useState } from "react";
import { apiUrl } from "../../api/client";
import { sessionPath } from "../../api/paths";
import { bytes } from "../../base/format";
import { Dialog } from "../../widgets/dialog";
import { destinationOf, PERFETTO, saveDestination, savedDestination, sendTrace } from "./perfetto";

type Step =
  | { name: "asking" }
  | { name: "exporting" }
  | { name: "waiting"; size: number }
  | { name: "done" }
  | { name: "failed"; why: string };

async function exported(session: string, signal: AbortSignal): Promise<ArrayBuffer> {
  const url = apiUrl(sessionPath(session, "/export"), { format: "perfetto" });
  const response = await fetch(url, { signal });
  if (!response.ok) {
    throw new Error(
      response.status === 503
        ? "Two exports are already running. Try again in a moment."
        : `The server could not export the session (status ${response.status}).`,
    );
  }
  return response.arrayBuffer();
}

export function PerfettoDialog({
  session,
  title,
  onClose,
}: {
  session: string;
  title: string;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState(savedDestination);
  const [step, setStep] = useState<Step>({ name: "asking" });
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const destination = destinationOf(typed);

  const open = async (event: FormEvent) => {
    event.preventDefault();
    if (!destination) return;
    saveDestination(typed.trim());
    // A window may be opened only while the click is handled, so it comes before the trace.
    const target = window.open(destination.href);
    if (!target) {
      setStep({ name: "failed", why: "The browser did not allow a new window." });
      return;
    }
    const controller = new AbortController();
    stop.current = controller;
    try {
      setStep({ name: "exporting" });
      const buffer = await exported(session, controller.signal);
      setStep({ name: "waiting", size: buffer.byteLength });
      const trace = { buffer, title, fileName: `${session}.perfetto-trace` };
      await sendTrace(target, destination.origin, trace, controller.signal);
      setStep({ name: "done" });
    } catch (error) {
      if (controller.signal.aborted) return;
      setStep({ name: "failed", why: error instanceof Error ? error.message : String(error) });
    }
  };
  const cancel = () => {
    stop.current?.abort();
    onClose();
  };

  return (
    <Dialog title="Open in Perfetto" onClose={cancel}>
      <form onSubmit={(event) => void open(event)}>
        <p className="dim">
          A new window opens at <b>{destination?.host ?? "–"}</b>. This page then hands the trace of
          the session to it, inside your browser. It contains names of kernels, functions and files.
        </p>
        <label className="perfetto-field">
          Perfetto's address
          <input
            className="text-field"
            type="url"
            value={typed}
            disabled={step.name !== "asking" && step.name !== "failed"}
            onChange={(event) => setTyped(event.target.value)}
            aria-invalid={destination === null}
          />
        </label>
        {typed.trim() !== PERFETTO && (
          <button type="button" className="text-button" onClick={() => setTyped(PERFETTO)}>
            Use {PERFETTO}
          </button>
        )}
        <p className="perfetto-step" role="status">
          {destination === null && "An address begins with https:// or http://."}
          {step.name === "exporting" && "Exporting the session …"}
          {step.name === "waiting" &&
            `${bytes(step.size)} ready; waiting for ${destination?.host} to answer …`}
          {step.name === "done" && "Handed over. The trace opens in the other window."}
          {step.name === "failed" && <span className="perfetto-failed">{step.why}</span>}
        </p>
        <div className="dialog-buttons">
          <button type="button" className="btn" onClick={cancel}>
            {step.name === "done" ? "Close" : "Cancel"}
          </button>
          {(step.name === "asking" || step.name === "failed") && (
            <button className="btn primary" disabled={destination === null}>
              Open {destination?.host ?? ""}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
