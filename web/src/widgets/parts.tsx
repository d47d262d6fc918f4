// SPDX-License-Identifier: Apache-2.0
// The small parts that pages are made of.
import { createContext, type ReactNode, useState } from "react";
import { UNKNOWN } from "../base/format";
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
      <PanelTools.Provider value={tools}>{children}</PanelTools.Provider>
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

// Copies on a click, and says so.
export function Copyable({ text, children }: { text: string; children?: ReactNode }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1200);
  };
  return (
    <button className="copyable" title="Copy" onClick={() => void copy()}>
      {children ?? text}
      <span aria-live="polite" className="copied">
        {isCopied ? "copied" : ""}
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
