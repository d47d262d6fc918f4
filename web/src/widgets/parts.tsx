// SPDX-License-Identifier: Apache-2.0
// The small parts that pages are made of.
import { createContext, type ReactNode, useRef, useState } from "react";
import { copyText } from "../base/clipboard";
import { UNKNOWN } from "../base/format";
import { isGuest } from "../base/place";
import { ErrorBoundary } from "./error_boundary";
import "./parts.css";

// Where a panel has room for what can be done with its content: at the end of its header.
export const PanelTools = createContext<HTMLElement | null>(null);

export function Panel({
  title,
  note,
  actions,
  children,
  className = "",
}: {
  title?: ReactNode;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  const [tools, setTools] = useState<HTMLElement | null>(null);
  return (
    <section className={`panel ${className}`}>
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {note !== undefined && <span className="note">{note}</span>}
          <span className="grow" />
          {actions}
          <span className="panel-tools" ref={setTools} />
        </header>
      )}
      <PanelTools.Provider value={tools}>
        <ErrorBoundary what="panel" of="">
          {children}
        </ErrorBoundary>
      </PanelTools.Provider>
    </section>
  );
}

export interface FactProps {
  label: string;
  value: ReactNode;
  unit?: ReactNode;
  // Why a value is not known, or more about it.
  hint?: string | undefined;
}

export function Facts({ of }: { of: FactProps[] }) {
  return (
    <section className="panel facts" style={{ gridTemplateColumns: `repeat(${of.length}, 1fr)` }}>
      {of.map(({ label, value, unit, hint }) => (
        <div key={label} title={hint}>
          <small>{label}</small>
          <b className="num">{value ?? UNKNOWN}</b> {unit !== undefined && <em>{unit}</em>}
        </div>
      ))}
    </section>
  );
}

export type Tone = "good" | "warn" | "bad" | "plain";

export function Badge({
  tone,
  children,
  hint,
}: {
  tone: Tone;
  children: ReactNode;
  hint?: string;
}) {
  return (
    <span className={`badge ${tone}`} title={hint}>
      {children}
    </span>
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return <kbd className="kbd">{children}</kbd>;
}

export function Chip({ children, href }: { children: ReactNode; href?: string | undefined }) {
  if (href === undefined) return <span className="chip">{children}</span>;
  return (
    <a className="chip source" href={href}>
      {children}
    </a>
  );
}

const SAID_MS = 1200;

// Copies, and says for a moment how that went.
export function useCopy(): { said: "" | "copied" | "cannot copy"; copy: (text: string) => void } {
  const [said, setSaid] = useState<"" | "copied" | "cannot copy">("");
  const timer = useRef(0);
  const copy = (text: string) => {
    void copyText(text).then((isCopied) => {
      setSaid(isCopied ? "copied" : "cannot copy");
      clearTimeout(timer.current);
      timer.current = window.setTimeout(() => setSaid(""), SAID_MS);
    });
  };
  return { said, copy };
}

// Copies on a click.
export function Copyable({ text, children }: { text: string; children?: ReactNode }) {
  const { said, copy } = useCopy();
  return (
    <button className="copyable" title="Copy" onClick={() => copy(text)}>
      {children ?? text}
      <span aria-live="polite" className="copied">
        {said}
      </span>
    </button>
  );
}

// A button that copies the link to what is shown. A guest's own address opens nothing elsewhere.
export function ShareButton({ what }: { what: string }) {
  const { said, copy } = useCopy();
  if (isGuest) return null;
  return (
    <button
      className="btn"
      onClick={() => copy(window.location.href)}
      title={`Copy the link to ${what}`}
    >
      <span aria-live="polite">
        {said === "" ? "Share" : said === "copied" ? "Link copied" : "Cannot copy"}
      </span>
    </button>
  );
}

// A share of something as a bar; the number stands beside it.
export function Bar({ share, color }: { share: number; color?: string }) {
  return (
    <span className="bar" aria-hidden="true">
      <i
        style={{
          width: `${Math.min(Math.max(share, 0), 1) * 100}%`,
          ...(color === undefined ? {} : { background: color }),
        }}
      />
    </span>
  );
}

export function Swatch({ color }: { color: string }) {
  return <i className="swatch" style={{ background: color }} aria-hidden="true" />;
}
