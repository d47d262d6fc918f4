// SPDX-License-Identifier: Apache-2.0
// Rows that lead somewhere behave as links do: with Ctrl, Shift or the middle button they open beside
// this page, their first cell is a link to copy, and their text can be selected.
import type { KeyboardEvent, MouseEvent, ReactNode } from "react";

function openBeside(href: string): void {
  window.open(href, "_blank", "noopener");
}

// What acts for itself: the row's own link is the row.
const OTHERS = "a:not(.row-link), button, input, select, summary";

type Wanted = "nothing" | "the browser" | "beside" | "here";

// What a click on a row is meant to do.
export function wantedBy(
  event: Pick<MouseEvent, "button" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">,
  at: { isOther: boolean; isLink: boolean; hasSelection: boolean; hasHref: boolean },
): Wanted {
  if (at.isOther) return "nothing";
  const isBeside = event.button === 1 || event.ctrlKey || event.metaKey || event.shiftKey;
  // A browser opens links beside the page by itself, and saves them with Alt.
  if (at.isLink && (isBeside || event.altKey)) return "the browser";
  if (isBeside) return at.hasHref ? "beside" : "nothing";
  if (event.button !== 0) return "nothing";
  return at.hasSelection ? "nothing" : "here";
}

function hasSelectionIn(row: Element): boolean {
  const selection = window.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(row, true);
}

export interface RowHandlers {
  onClick: (event: MouseEvent<HTMLElement>) => void;
  onAuxClick: (event: MouseEvent<HTMLElement>) => void;
}

// `href` null: the row opens nothing that has an address.
export function rowHandlers(href: string | null, open: () => void): RowHandlers {
  const act = (event: MouseEvent<HTMLElement>) => {
    const target = event.target as Element;
    const wanted = wantedBy(event, {
      isOther: target.closest(OTHERS) !== null,
      isLink: target.closest(".row-link") !== null,
      hasSelection: hasSelectionIn(event.currentTarget),
      hasHref: href !== null,
    });
    if (wanted === "the browser") return;
    if (target.closest(".row-link")) event.preventDefault();
    if (wanted === "beside" && href !== null) openBeside(href);
    if (wanted === "here") open();
  };
  return { onClick: act, onAuxClick: act };
}

// Enter on the row that keys have chosen.
export function openByKey(event: KeyboardEvent, href: string | null, open: () => void): void {
  if ((event.ctrlKey || event.metaKey || event.shiftKey) && href !== null) openBeside(href);
  else open();
}

// Keys choose rows and not their links, which are too many to walk through.
export function RowLink({ href, children }: { href: string | null; children: ReactNode }) {
  if (href === null) return children;
  return (
    <a className="row-link" href={href} tabIndex={-1} draggable={false}>
      <span>{children}</span>
    </a>
  );
}
