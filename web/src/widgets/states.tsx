// SPDX-License-Identifier: Apache-2.0
// What a part of a page shows while it has no data: nothing for a moment, a skeleton, progress, why
// it failed and what to do, or what would be there.
import { type ReactNode, useEffect, useState } from "react";
import type { Loaded } from "../api/hooks";
import type { Problem } from "../api/client";
import { percent, sentence } from "../base/format";
import { isGuest } from "../base/place";
import "./states.css";

const CALM_MS = 100;

// What takes less than a tenth of a second shows nothing in between.
function useIsLate(): boolean {
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsLate(true), CALM_MS);
    return () => clearTimeout(timer);
  }, []);
  return isLate;
}

export function Skeleton({ rows = 4 }: { rows?: number }) {
  if (!useIsLate()) return <div className="skeleton" aria-busy="true" />;
  return (
    <div className="skeleton" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <i key={i} style={{ width: `${90 - ((i * 37) % 45)}%` }} />
      ))}
    </div>
  );
}

export function Running({ progress }: { progress: number | null }) {
  if (!useIsLate()) return <div className="running" aria-busy="true" />;
  return (
    <div className="running" role="status" aria-live="polite">
      <span>Reading the session{progress === null ? " …" : `, ${percent(progress)}`}</span>
      <progress max={1} {...(progress === null ? {} : { value: progress })} />
    </div>
  );
}

function remedyOf({ status, detail }: Problem): string {
  if (status === 0) return "Start it again, then retry.";
  if (status === -2)
    return "Reload the page; if it stays, see whether gpufl serve is still running.";
  if (status < 0) return "If it stays, it is our mistake: the rest still works.";
  if (status === 401 || status === 403) {
    // The server says it, too.
    if (isGuest || detail.includes("the address that gpufl")) return "";
    return "Open the address that gpufl serve printed; it carries the token.";
  }
  if (status === 400) return "The address of this page asks for what the server does not know.";
  if (status === 404) return "It may have been moved or deleted since this page was opened.";
  if (status === 507) return "Start gpufl serve with a larger --analysis-memory.";
  return "Retry; if it stays, gpufl verify says what is wrong with the session.";
}

export function Failed({
  problem,
  retry,
  action = "Retry",
}: {
  problem: Problem;
  retry?: () => void;
  action?: string;
}) {
  const remedy = remedyOf(problem);
  return (
    <div className="failed" role="alert">
      <b>{problem.title}</b>
      {problem.detail !== "" && <p>{sentence(problem.detail)}</p>}
      {remedy !== "" && <p className="dim">{remedy}</p>}
      {retry && (
        <button className="btn" onClick={retry}>
          {action}
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <b>{title}</b>
      {children}
    </div>
  );
}

// The data, or the state that stands for it.
export function Ready<T>({
  of,
  rows,
  children,
}: {
  of: Loaded<T>;
  rows?: number;
  children: (data: T) => ReactNode;
}) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error) return <Failed problem={of.error} retry={of.retry} />;
  if (of.progress !== null) return <Running progress={of.progress} />;
  return <Skeleton {...(rows === undefined ? {} : { rows })} />;
}
