// SPDX-License-Identifier: Apache-2.0
// Names of tracks beside the canvas, as elements of the page: they can be read, reached by keyboard
// and pressed. Only those in view exist.
import { RULER_PX } from "./draw_frame";
import { type Item, type Layout, visibleItems } from "./layout";

export interface LabelActions {
  toggle: (id: string) => void;
  pin: (id: string) => void;
  canPin: boolean;
}

interface Shown {
  element: HTMLElement;
  signature: string;
}

function button(className: string, text: string, label: string, press: () => void) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = className;
  element.textContent = text;
  element.setAttribute("aria-label", label);
  element.title = label;
  element.addEventListener("click", press);
  return element;
}

export class Labels {
  readonly element = document.createElement("div");
  private readonly scrolled = document.createElement("div");
  private readonly pinned = document.createElement("div");
  private readonly shown = new Map<string, Shown>();

  constructor(private readonly actions: LabelActions) {
    this.element.className = "tl-labels";
    this.scrolled.className = "tl-labels-scrolled";
    this.pinned.className = "tl-labels-pinned";
    this.element.append(this.scrolled, this.pinned);
    this.scrolled.style.top = `${RULER_PX}px`;
    this.pinned.style.top = `${RULER_PX}px`;
  }

  update(layout: Layout, scroll: number, height: number, noteOf: (item: Item) => string): void {
    const wanted = new Set<string>();
    const room = height - RULER_PX - layout.pinnedHeight;
    this.pinned.style.height = `${layout.pinnedHeight}px`;
    this.pinned.hidden = layout.pinnedHeight === 0;
    for (const item of layout.pinned) {
      this.put(item, item.y, this.pinned, noteOf(item));
      wanted.add(item.id);
    }
    for (const item of visibleItems(layout.scrolled, scroll, scroll + room)) {
      this.put(item, item.y - scroll + layout.pinnedHeight, this.scrolled, noteOf(item));
      wanted.add(item.id);
    }
    for (const [id, { element }] of this.shown) {
      if (wanted.has(id)) continue;
      element.remove();
      this.shown.delete(id);
    }
  }

  private put(item: Item, y: number, parent: HTMLElement, note: string): void {
    const signature = `${item.isCollapsed} ${item.isPinned} ${item.isFirst} ${item.height} ${item.label} ${item.note} ${note}`;
    let shown = this.shown.get(item.id);
    if (!shown || shown.signature !== signature) {
      const element = this.make(item, note);
      const hadFocus = shown?.element.contains(document.activeElement) ?? false;
      const focused = document.activeElement?.className ?? "";
      shown?.element.remove();
      shown = { element, signature };
      this.shown.set(item.id, shown);
      parent.append(element);
      if (hadFocus) {
        const again = [...element.querySelectorAll("button")].find((b) => b.className === focused);
        again?.focus({ preventScroll: true });
      }
    }
    shown.element.style.transform = `translateY(${y}px)`;
  }

  private make(item: Item, range: string): HTMLElement {
    const element = document.createElement("div");
    element.className = `tl-label tl-${item.kind}`;
    element.style.height = `${item.height}px`;
    const section = item.leaf?.section ?? "";
    const name = item.kind === "group" || section === "" ? item.label : `${section} ${item.label}`;
    const verb = item.isCollapsed ? "Open" : "Close";
    const noted = item.kind === "group" ? item.note : item.isCollapsed ? "" : range;
    // All that is seen is said.
    const said = [verb, name, noted].filter(Boolean).join(" ");
    const toggle = button("tl-toggle", "", said, () => this.actions.toggle(item.id));
    toggle.setAttribute("aria-expanded", String(!item.isCollapsed));
    const sign = document.createElement("i");
    sign.textContent = item.isCollapsed ? "▸" : "▾";
    const text = document.createElement("span");
    text.className = "tl-name";
    if (item.isFirst && section !== "") {
      const head = document.createElement("b");
      head.textContent = section;
      text.append(head, ` ${item.label}`);
    } else {
      text.textContent = item.label;
    }
    toggle.append(sign, text);
    if (noted !== "") {
      const note = document.createElement("em");
      note.textContent = noted;
      toggle.append(" ", note);
    }
    element.append(toggle);
    if (item.kind !== "group" && this.actions.canPin) {
      const word = item.isPinned ? "unpin" : "pin";
      const pin = button("tl-pin", word, `${word} ${name}`, () => this.actions.pin(item.id));
      pin.setAttribute("aria-pressed", String(item.isPinned));
      element.append(pin);
    }
    return element;
  }
}
