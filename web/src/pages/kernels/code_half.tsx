// SPDX-License-Identifier: Apache-2.0
// One of the two panes of code, with its head.
import { type ReactNode, useMemo } from "react";
import { count, percent, plural } from "../../base/format";
import { type CodeLineRow, CodeView } from "../../widgets/code_view";
import { type HeatRow, hexOffset, type Pane } from "./code_model";
import { barOf, countWords, figureOf, type HeatBy } from "./heat";
import { stallWords } from "./stalls";

export type Side = "left" | "right";
export interface Chosen {
  side: Side;
  row: number;
}

export const NONE: ReadonlySet<number> = new Set();

function heatText(row: HeatRow, all: number): string {
  if (row.samples === 0) return "";
  const parts = row.stack
    .slice(0, 3)
    .map(({ reason, samples }) => `${stallWords(reason)} ${count(samples)}`);
  return `${plural(row.samples, "sample")}, ${percent(row.samples / Math.max(all, 1))}: ${parts.join(", ")}`;
}

function viewRows(pane: Pane, all: number, side: Side, by: HeatBy): CodeLineRow[] {
  return pane.rows.map((row) => ({
    gutter: side === "right" ? hexOffset(row.at) : String(row.at),
    text: row.text,
    heat: barOf(row, by, pane.most),
    figure: figureOf(row, by),
    heatText: [heatText(row, all), ...countWords(row.counts)].filter(Boolean).join("\n"),
    hint: row.hint,
  }));
}

export function Half(props: {
  side: Side;
  pane: Pane;
  head: ReactNode;
  samples: number;
  by: HeatBy;
  maxRows?: number;
  chosen: Chosen | null;
  linked: ReadonlySet<number>;
  found: ReadonlySet<number>;
  scrollTo: number | null;
  onChoose: (chosen: Chosen) => void;
}) {
  const { side, pane, chosen, samples, by } = props;
  const rows = useMemo(() => viewRows(pane, samples, side, by), [pane, samples, side, by]);
  const own = chosen?.side === side ? chosen.row : null;
  return (
    <div className="code-half">
      <div className="code-head">{props.head}</div>
      <CodeView
        rows={rows}
        language={pane.language}
        label={side === "right" ? "SASS" : pane.title}
        chosen={own}
        linked={props.linked}
        found={props.found}
        scrollTo={props.scrollTo}
        onChoose={(row) => props.onChoose({ side, row })}
        {...(props.maxRows === undefined ? {} : { maxRows: props.maxRows })}
      />
    </div>
  );
}

export function LeftHead(props: {
  panes: Pane[];
  pane: Pane;
  chosen: Chosen | null;
  onPane: (id: string) => void;
}) {
  const { panes, pane, chosen } = props;
  const row = chosen?.side === "left" ? pane.rows[chosen.row] : undefined;
  return (
    <>
      {panes.length > 1 ? (
        <select
          aria-label="File"
          value={pane.id}
          onChange={(event) => props.onPane(event.target.value)}
        >
          {panes.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      ) : (
        <span title={pane.id}>{pane.title}</span>
      )}
      {pane.isNewer && (
        <span className="code-warn" title="Lines may not be those that were compiled">
          changed since the recording
        </span>
      )}
      <span className="grow" />
      {row && <span className="num">line {row.at}</span>}
    </>
  );
}
