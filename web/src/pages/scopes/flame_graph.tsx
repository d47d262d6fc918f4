// SPDX-License-Identifier: Apache-2.0
// A flame graph from the top down. A click or Enter zooms in; arrows move between frames.
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { useWidth } from "../../base/element_width";
import { percent, plural } from "../../base/format";
import { type FlameNode, findNode, layout, type Placed, searchFor, selfOf, wayTo } from "./flame";

const ROW_PX = 20;
const LEAST_PX = 2;
const TEXT_PX = 28;
const OTHERS_PX = 120;

function isOne({ others }: Placed): boolean {
  return others === undefined;
}

// The next frame in the direction of an arrow.
function neighbour(all: Placed[], at: Placed, key: string): Placed | undefined {
  const placed = all.filter(isOne);
  if (key === "ArrowUp") return placed.find(({ node }) => node === at.node.parent);
  if (key === "ArrowDown") return placed.find(({ node }) => node.parent === at.node);
  const row = placed.filter(({ depth }) => depth === at.depth);
  return row[row.indexOf(at) + (key === "ArrowRight" ? 1 : -1)];
}

export interface FlameKernel {
  label: string;
  color: string;
  href: string;
}

export function FlameGraph({
  top,
  zoomed,
  onZoom,
  search,
  format,
  kernelOf,
  label,
}: {
  top: FlameNode;
  zoomed: string | null;
  onZoom: (id: string | null) => void;
  search: string;
  format: (value: number) => string;
  // A kernel's short name, colour and page; null: the frame is no kernel.
  kernelOf: (node: FlameNode) => FlameKernel | null;
  label: string;
}) {
  const element = useRef<HTMLDivElement>(null);
  const width = useWidth(element);
  const zoom = (zoomed === null ? null : findNode(top, zoomed)) ?? top;
  const placed = useMemo(() => (width === 0 ? [] : layout(zoom, LEAST_PX / width)), [zoom, width]);
  const [pointed, setPointed] = useState<string | null>(null);
  const found = useMemo(() => searchFor(top, search), [top, search]);
  const current =
    placed.find((one) => isOne(one) && one.node.id === pointed) ??
    placed.find((one) => isOne(one) && one.node === zoom);
  const around = useMemo(() => new Set(wayTo(zoom)), [zoom]);
  const depth = placed.reduce((most, one) => Math.max(most, one.depth), 0);
  const share = (node: FlameNode) => (top.value > 0 ? node.value / top.value : null);
  const open = (node: FlameNode) => onZoom(node.id === "" ? null : node.id);

  const onKey = (event: KeyboardEvent) => {
    if (!current) return;
    if (event.key.startsWith("Arrow")) {
      const next = neighbour(placed, current, event.key);
      if (next) setPointed(next.node.id);
    } else if (event.key === "Enter") open(current.node);
    else if (event.key === "Backspace" || (event.key === "Escape" && zoom !== top)) {
      onZoom(zoom.parent && zoom.parent.id !== "" ? zoom.parent.id : null);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const shown = current?.node ?? top;
  const shownKernel = kernelOf(shown);
  return (
    <div className="flame">
      <div className="flame-line" aria-live="polite">
        <b title={shown.name}>
          {shownKernel ? <a href={shownKernel.href}>{shownKernel.label}</a> : shown.name}
        </b>
        {shown.file !== undefined && (
          <span className="mono dim">
            {shown.file}
            {shown.line === undefined ? "" : `:${shown.line}`}
          </span>
        )}
        <span className="num">{format(shown.value)}</span>
        <span className="num dim">{percent(share(shown))} of all</span>
        <span className="num dim">{format(selfOf(shown))} its own</span>
        <span className="grow" />
        {search.trim() !== "" && (
          <span className="num">
            {found.ids.size === 0
              ? "nothing found"
              : `found: ${format(found.value)}, ${percent(top.value > 0 ? found.value / top.value : null)}`}
          </span>
        )}
        {zoom !== top && (
          <button className="btn" onClick={() => onZoom(null)}>
            Zoom out
          </button>
        )}
      </div>
      <div
        ref={element}
        className="flame-frames"
        role="tree"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={current ? `flame-${placed.indexOf(current)}` : undefined}
        style={{ height: (depth + 1) * ROW_PX }}
        onKeyDown={onKey}
        onMouseLeave={() => setPointed(null)}
      >
        {placed.map(({ node, depth: row, left, width: part, others }, index) => {
          const place = { top: row * ROW_PX, left: `${left * 100}%`, width: `${part * 100}%` };
          if (others !== undefined) {
            const words = plural(others, "narrow frame");
            return (
              <div
                key={`${node.id} others`}
                role="treeitem"
                aria-level={row + 1}
                aria-disabled="true"
                aria-label={words}
                className="flame-others"
                style={place}
                title={words}
              >
                {part * width >= OTHERS_PX && words}
              </div>
            );
          }
          const kernel = kernelOf(node);
          const isHit = found.ids.has(node.id);
          const isFaded = search.trim() !== "" && !isHit;
          const classes = [
            "flame-frame",
            current?.node === node ? "on" : "",
            isHit ? "hit" : "",
            isFaded ? "faded" : "",
            around.has(node) ? "around" : "",
          ];
          return (
            <div
              key={node.id}
              id={`flame-${index}`}
              role="treeitem"
              aria-level={row + 1}
              aria-selected={current?.node === node}
              aria-label={`${kernel?.label ?? node.name}, ${format(node.value)}, ${percent(share(node))}`}
              className={classes.filter(Boolean).join(" ")}
              style={{
                ...place,
                ...(kernel === null || isFaded
                  ? {}
                  : { background: `color-mix(in srgb, ${kernel.color} 38%, var(--panel))` }),
              }}
              onMouseEnter={() => setPointed(node.id)}
              onClick={() => open(node)}
            >
              {part * width >= TEXT_PX && (kernel?.label ?? node.name)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
