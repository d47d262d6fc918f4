// SPDX-License-Identifier: Apache-2.0
// Lines of code with their heat. Only those in view are drawn.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { type Language, lineStates } from "../base/tokenizer";
import { CodeText } from "./code_text";
import "./code_view.css";

export interface CodeLineRow {
  // A line's number or an instruction's offset, as shown.
  gutter: string;
  // null: the text is not known.
  text: string | null;
  // Parts of the bar, as shares of the hottest line's.
  heat: { share: number; color: string }[];
  // The number beside the bar.
  figure?: string;
  // What the bar says in words.
  heatText: string;
  hint?: string | undefined;
}

export interface CodeViewProps {
  rows: CodeLineRow[];
  language: Language;
  label: string;
  chosen: number | null;
  // Rows that belong to what is chosen in the other pane.
  linked: ReadonlySet<number>;
  found: ReadonlySet<number>;
  // Comes into view when it changes.
  scrollTo: number | null;
  onChoose: (row: number) => void;
  maxRows?: number;
  gutterWidth?: number;
}

const ROW_PX = 20;
const HEAT_PX = 96;

export function CodeView(props: CodeViewProps) {
  const { rows, language, chosen, onChoose, maxRows = 24, gutterWidth = 52 } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const states = useMemo(
    () =>
      lineStates(
        rows.map(({ text }) => text),
        language,
      ),
    [rows, language],
  );
  const columns = useMemo(
    () => rows.reduce((most, { text }) => Math.max(most, text?.length ?? 0), 0),
    [rows],
  );
  const heatWidth = rows.some(({ heat }) => heat.length > 0) ? HEAT_PX : 0;
  const figureWidth = rows.reduce((most, { figure }) => Math.max(most, figure?.length ?? 0), 0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
    initialRect: { width: 600, height: maxRows * ROW_PX },
  });
  const { scrollTo } = props;
  useEffect(() => {
    if (scrollTo !== null) virtual.scrollToIndex(scrollTo, { align: "center" });
    // The virtualizer is the same for the life of the view.
  }, [scrollTo, rows]);

  const onKey = (event: KeyboardEvent) => {
    const page = maxRows - 1;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    const ends = { Home: 0, End: rows.length - 1 }[event.key];
    if (step === undefined && ends === undefined) return;
    event.preventDefault();
    const next = ends ?? Math.min(Math.max((chosen ?? -1) + (step ?? 0), 0), rows.length - 1);
    onChoose(next);
    virtual.scrollToIndex(next);
  };
  const id = (index: number) => `${props.label.replace(/\W+/g, "-")}-${index}`;

  return (
    <div
      ref={scroll}
      className="code-view"
      role="listbox"
      aria-label={props.label}
      aria-activedescendant={chosen === null ? undefined : id(chosen)}
      tabIndex={0}
      onKeyDown={onKey}
      style={{ maxHeight: maxRows * ROW_PX }}
    >
      <div
        style={{
          height: virtual.getTotalSize(),
          position: "relative",
          minWidth: `calc(${gutterWidth + heatWidth + 44}px + ${figureWidth + columns}ch)`,
        }}
      >
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index] as CodeLineRow;
          const classes = [
            "code-row",
            index === chosen ? "on" : "",
            props.linked.has(index) ? "linked" : "",
            props.found.has(index) ? "found" : "",
          ];
          return (
            <div
              key={index}
              id={id(index)}
              role="option"
              aria-selected={index === chosen}
              className={classes.filter(Boolean).join(" ")}
              style={{
                transform: `translateY(${start}px)`,
                gridTemplateColumns: `${gutterWidth}px ${heatWidth}px calc(${figureWidth}ch + ${figureWidth === 0 ? 0 : 14}px) 1fr`,
              }}
              title={[row.heatText, row.hint].filter(Boolean).join("\n") || undefined}
              onClick={() => onChoose(index)}
            >
              <span className="code-gutter num">{row.gutter}</span>
              <span className="code-heat">
                {row.heat.map(({ share, color }, i) => (
                  <i key={i} style={{ width: `${share * 100}%`, background: color }} />
                ))}
                <span className="visually-hidden">{row.heatText}</span>
              </span>
              <span className="code-figure num">{row.figure}</span>
              <span className="code-text">
                {row.text === null ? (
                  <span className="faint">text not available</span>
                ) : (
                  <CodeText text={row.text} language={language} state={states[index]} />
                )}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
