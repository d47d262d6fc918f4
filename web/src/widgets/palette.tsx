// SPDX-License-Identifier: Apache-2.0
// One field that finds everything: pages, sessions, kernels and scopes of the session, actions.
import {
  type KeyboardEvent,
  useDeferredValue,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { useSegments } from "../base/address";
import { activeKeys, useKeys } from "../base/keys";
import { Dialog } from "./dialog";
import { stretches } from "./fuzzy";
import { keyParts } from "./key_groups";
import { findItems, type FoundItem } from "./palette_items";
import { useHasMoreKernels, usePaletteItems } from "./palette_sources";
import { Kbd } from "./parts";
import "./palette.css";

let isOpen = false;
const listeners = new Set<() => void>();

function setOpen(next: boolean): void {
  isOpen = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function openPalette(): void {
  setOpen(true);
}

export function CommandPalette() {
  const isShown = useSyncExternalStore(subscribe, () => isOpen);
  useKeys([{ keys: "Mod+k", what: "Find anything", run: openPalette }]);
  return isShown ? <PaletteDialog /> : null;
}

function PaletteDialog() {
  const [place, id = ""] = useSegments();
  const session = place === "s" ? id : null;
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const [keys] = useState(activeKeys);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const asked = useDeferredValue(typed);
  const items = usePaletteItems(session, keys);
  const hasMoreKernels = useHasMoreKernels(session);
  const groups = useMemo(() => findItems(items, asked), [items, asked]);
  const flat = useMemo(() => groups.flatMap((group) => group.items), [groups]);
  const at = Math.min(chosen, flat.length - 1);
  // What is shown may lag behind what somebody types quickly.
  const bestOf = (text: string) => findItems(items, text).flatMap((group) => group.items)[0];

  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, flat]);

  const choose = (item: FoundItem | undefined) => {
    if (!item) return;
    setOpen(false);
    item.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const isMod = event.ctrlKey || event.metaKey;
    if (isMod && event.key === "k") setOpen(false);
    else if (event.key === "ArrowDown") setChosen(at + 1 < flat.length ? at + 1 : 0);
    else if (event.key === "ArrowUp") setChosen(at > 0 ? at - 1 : flat.length - 1);
    else if (event.key === "Enter") choose(asked === typed ? flat[at] : bestOf(typed));
    else return;
    event.preventDefault();
  };
  const optionId = (index: number) => `${listId}-${index}`;
  let index = -1;
  return (
    <Dialog label="Find anything" className="palette" onClose={() => setOpen(false)}>
      <input
        className="palette-field"
        role="combobox"
        aria-label="Find pages, sessions, kernels, scopes and actions"
        aria-expanded="true"
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={at >= 0 ? optionId(at) : undefined}
        placeholder={
          session === null ? "Sessions and actions" : "Kernels, scopes, pages, sessions, actions"
        }
        autoFocus
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div className="palette-list" role="listbox" aria-label="Found" id={listId} ref={list}>
        {groups.map((group) => (
          <div role="group" aria-label={group.title} key={group.title}>
            <small aria-hidden="true">{group.title}</small>
            {group.items.map((item) => {
              index += 1;
              const here = index;
              return (
                <div
                  key={item.id}
                  id={optionId(here)}
                  role="option"
                  aria-selected={here === at}
                  className="palette-item"
                  onMouseMove={() => setChosen(here)}
                  onClick={() => choose(item)}
                >
                  <Found item={item} />
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {flat.length === 0 && (
        <p className="palette-none">
          Nothing fits “{asked}”
          {session !== null && hasMoreKernels ? (
            <>
              {" "}
              among the kernels with the most time.{" "}
              <a
                href={`#/s/${encodeURIComponent(session)}/kernels?q=${encodeURIComponent(asked)}`}
                onClick={() => setOpen(false)}
              >
                Look among all
              </a>
            </>
          ) : (
            "."
          )}
        </p>
      )}
      <footer className="palette-foot">
        <span>
          <Kbd>↑</Kbd> <Kbd>↓</Kbd> choose
        </span>
        <span>
          <Kbd>Enter</Kbd> open
        </span>
        <span>
          <Kbd>Esc</Kbd> close
        </span>
      </footer>
    </Dialog>
  );
}

function Found({ item }: { item: FoundItem }) {
  return (
    <>
      <span className="palette-text" title={item.text}>
        {stretches(item.text, item.at).map(({ text, isFound }, i) =>
          isFound ? <mark key={i}>{text}</mark> : text,
        )}
      </span>
      {item.detail !== undefined && <span className="palette-detail">{item.detail}</span>}
      {item.keys !== undefined && (
        <span className="palette-keys">
          {keyParts(item.keys).map((part, i) => (
            <Kbd key={i}>{part}</Kbd>
          ))}
        </span>
      )}
    </>
  );
}
