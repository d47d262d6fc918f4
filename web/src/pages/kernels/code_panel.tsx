// SPDX-License-Identifier: Apache-2.0
// Source and SASS side by side, with where the samples fell.
import { useMemo, useRef, useState } from "react";
import type { CodeImage, KernelCode } from "../../api/types";
import { setViewParameters, useViewParameter } from "../../base/address";
import { plural } from "../../base/format";
import { useKeys } from "../../base/keys";
import { useMedia } from "../../base/media";
import { Kbd, Panel, Swatch } from "../../widgets/parts";
import { type Chosen, Half, LeftHead, NONE, type Side } from "./code_half";
import {
  coldPtxPane,
  findRows,
  type HeatRow,
  hexOffset,
  hottest,
  instructionPane,
  linkBack,
  nextHot,
  type Pane,
  ptxPane,
  rowName,
  rowNamed,
  sourcePanes,
} from "./code_model";
import { type Heat, type HeatBy, heatsOf, legendFor } from "./heat";
import { HeatChoice } from "./heat_choice";
import { MissingList } from "./missing_list";
import { legendOf, stallOrder } from "./stalls";

function hottestOf(rows: HeatRow[], among: number[]): number | null {
  return among.reduce<number | null>(
    (best, i) => (best === null || rows[i]!.heat > rows[best]!.heat ? i : best),
    null,
  );
}

const STACKED = "(max-width: 1000px)";
const STACKED_ROWS = 14;

function Code({
  code,
  image,
  heats,
  by,
}: {
  code: KernelCode;
  image: CodeImage;
  heats: Heat[];
  by: HeatBy;
}) {
  const order = useMemo(() => stallOrder(code.stalls).map(({ reason }) => reason), [code]);
  const panes = useMemo(() => {
    const ptx = ptxPane(image, order, by);
    return [...sourcePanes(code, image, order, by), ...(ptx ? [ptx] : [])];
  }, [code, image, order, by]);
  const [file] = useViewParameter("file");
  const [line, setLine] = useViewParameter("line");
  const left = panes.find(({ id }) => id === file) ?? panes[0] ?? null;
  const right = useMemo(() => {
    const pane = instructionPane(image, order, by);
    return left ? linkBack(left, pane) : pane;
  }, [image, order, by, left]);
  const lead: Side = left && left.most > 0 ? "left" : "right";
  const of = (side: Side) => (side === "left" && left ? left.rows : right.rows);
  const hot = hottest(of(lead))[0];
  const chosen: Chosen | null =
    rowNamed(line, left, right) ?? (hot === undefined ? null : { side: lead, row: hot });
  const [isMoved, setIsMoved] = useState(true);
  const [find, setFind] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const isStacked = useMedia(STACKED);
  const maxRows = isStacked && left ? STACKED_ROWS : undefined;
  const setChosen = ({ side, row }: Chosen) => setLine(rowName(side, of(side)[row]!.at));

  const found = useMemo(
    () => ({
      left: new Set(left ? findRows(left.rows, find) : []),
      right: new Set(findRows(right.rows, find)),
    }),
    [left, right, find],
  );
  const matches: Chosen[] = [
    ...[...found.left].map((row) => ({ side: "left" as const, row })),
    ...[...found.right].map((row) => ({ side: "right" as const, row })),
  ];
  const goTo = (next: Chosen | null) => {
    if (!next) return;
    setChosen(next);
    setIsMoved(true);
  };
  const goHot = (step: 1 | -1) => {
    const from = chosen?.side === lead ? chosen.row : null;
    const row = nextHot(of(lead), from, step);
    goTo(row === null ? null : { side: lead, row });
  };
  const goMatch = (step: 1 | -1) => {
    const at = matches.findIndex(({ side, row }) => side === chosen?.side && row === chosen.row);
    const next = at < 0 ? (step > 0 ? 0 : matches.length - 1) : at + step;
    goTo(matches[(next + matches.length) % Math.max(matches.length, 1)] ?? null);
  };
  useKeys([
    { keys: "[", what: "Hotter line", run: () => goHot(-1) },
    { keys: "]", what: "Next hottest line", run: () => goHot(1) },
    { keys: "/", what: "Find in the code", run: () => input.current?.focus() },
  ]);

  const others = chosen ? (of(chosen.side)[chosen.row]?.others ?? []) : [];
  const linked = new Set(others);
  const otherSide: Side = chosen?.side === "left" ? "right" : "left";
  const other = hottestOf(of(otherSide), otherSide === "left" && !left ? [] : others);
  const scrollOf = (side: Side) =>
    chosen?.side === side ? (isMoved ? chosen.row : null) : side === otherSide ? other : null;
  const choose = (next: Chosen) => {
    setChosen(next);
    setIsMoved(false);
  };
  const showPane = (id: string) => {
    const isFirst = id === panes[0]?.id;
    setViewParameters({
      file: isFirst ? null : id,
      ...(chosen?.side === "left" ? { line: null } : {}),
    });
    setIsMoved(true);
  };
  const rank = chosen ? hottest(of(chosen.side)).indexOf(chosen.row) : -1;
  const { resources, architecture } = image;
  const instruction = chosen?.side === "right" ? right.rows[chosen.row] : undefined;

  return (
    <>
      <div className="code-tools">
        <label className="kernels-filter">
          <span className="visually-hidden">Find in source and SASS</span>
          <input
            ref={input}
            type="search"
            placeholder="Find in source and SASS"
            value={find}
            onChange={(event) => setFind(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") goMatch(event.shiftKey ? -1 : 1);
              if (event.key === "Escape") event.currentTarget.blur();
            }}
          />
          <Kbd>/</Kbd>
        </label>
        {find !== "" && (
          <span className="dim num">{plural(matches.length, "match", "matches")}</span>
        )}
        <HeatChoice heats={heats} by={by} counts={image.counts} />
        <span className="grow" />
        {rank >= 0 && (
          <span className="dim num">{rank === 0 ? "hottest" : `hot no. ${rank + 1}`}</span>
        )}
        <button className="btn" onClick={() => goHot(-1)}>
          Previous hot <Kbd>[</Kbd>
        </button>
        <button className="btn" onClick={() => goHot(1)}>
          Next hot <Kbd>]</Kbd>
        </button>
      </div>
      <div className={left ? "code-halves" : "code-halves one"}>
        {left && (
          <Half
            key={left.id}
            side="left"
            pane={left}
            head={<LeftHead panes={panes} pane={left} chosen={chosen} onPane={showPane} />}
            samples={image.samples}
            by={by}
            {...(maxRows === undefined ? {} : { maxRows })}
            chosen={chosen}
            linked={otherSide === "left" ? linked : NONE}
            found={found.left}
            scrollTo={scrollOf("left")}
            onChoose={choose}
          />
        )}
        <Half
          side="right"
          pane={right}
          head={
            <>
              <span>
                SASS{architecture ? `, ${architecture}` : ""}
                {resources.registers === null ? "" : `, ${resources.registers} registers`}
              </span>
              <span className="grow" />
              <span className="num">
                {instruction ? `0x${hexOffset(instruction.at)} of ` : ""}
                {plural(right.rows.length, "instruction")}
              </span>
            </>
          }
          samples={image.samples}
          by={by}
          {...(maxRows === undefined ? {} : { maxRows })}
          chosen={chosen}
          linked={otherSide === "right" ? linked : NONE}
          found={found.right}
          scrollTo={scrollOf("right")}
          onChoose={choose}
        />
      </div>
    </>
  );
}

function ColdPtx({ pane }: { pane: Pane }) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  return (
    <div className="code-halves one">
      <Half
        side="left"
        pane={pane}
        head={
          <span>PTX, without heat: samples are of instructions, which were not disassembled</span>
        }
        samples={0}
        by="stalls"
        chosen={chosen}
        linked={NONE}
        found={NONE}
        scrollTo={null}
        onChoose={setChosen}
      />
    </div>
  );
}

export function CodePanel({ code, note }: { code: KernelCode; note: string }) {
  const [hash] = useViewParameter("image");
  const [wanted] = useViewParameter("heat");
  const image = code.images.find((one) => one.hash === hash) ?? code.images[0];
  const hasCode = image !== undefined && image.instructions.length > 0;
  const ptx = image && !hasCode ? coldPtxPane(image, code.function) : null;
  const heats = hasCode ? heatsOf(image) : [];
  const by = (heats.find((heat) => heat.by === wanted) ?? heats[0])?.by ?? "stalls";
  const legend = heats.length > 0 ? legendFor(by, legendOf(stallOrder(code.stalls))) : [];
  return (
    <Panel
      title={hasCode || !ptx ? "Source and SASS" : "PTX"}
      note={hasCode ? note : undefined}
      actions={
        <>
          <span className="code-legend">
            {legend.map(({ color, words }) => (
              <span key={words}>
                <Swatch color={color} />
                {words}
              </span>
            ))}
          </span>
          {image !== undefined && code.images.length > 1 && (
            <select
              aria-label="Image"
              value={image.hash}
              onChange={(event) =>
                setViewParameters({ image: event.target.value, file: null, line: null })
              }
            >
              {code.images.map(({ hash: other, samples }) => (
                <option key={other} value={other}>
                  image {other.slice(0, 8)}, {plural(samples, "sample")}
                </option>
              ))}
            </select>
          )}
        </>
      }
    >
      <MissingList of={code.missing} />
      {hasCode && <Code key={image.hash} code={code} image={image} heats={heats} by={by} />}
      {ptx && <ColdPtx pane={ptx} />}
    </Panel>
  );
}
