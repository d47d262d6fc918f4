// SPDX-License-Identifier: Apache-2.0
// The address of a view is in the fragment: "#/s/ID/timeline?from=0&to=100". The document is the
// same for all of them, so pages work behind any path prefix, and nothing of a view is sent.
import { useCallback, useSyncExternalStore } from "react";

const CHANGED = "gpufl-address";

function fragment(): string {
  const hash = window.location.hash.slice(1);
  return hash.startsWith("/") ? hash : "/";
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener("hashchange", listener);
    window.removeEventListener(CHANGED, listener);
  };
}

function pathOf(text: string): string {
  const at = text.indexOf("?");
  return at < 0 ? text : text.slice(0, at);
}

function searchOf(text: string): string {
  const at = text.indexOf("?");
  return at < 0 ? "" : text.slice(at + 1);
}

export function navigate(to: string, options?: { replace?: boolean }): void {
  const url = `${window.location.pathname}${window.location.search}#${to}`;
  if (options?.replace) window.history.replaceState(null, "", url);
  else window.history.pushState(null, "", url);
  window.dispatchEvent(new Event(CHANGED));
}

// The parts of the path, as they were before they became an address: "a%2Fb" is "a/b". wouter has
// decoded its own once already, which names with a % do not survive.
export function useSegments(): string[] {
  return useSyncExternalStore(subscribe, () => pathOf(fragment()))
    .split("/")
    .slice(1)
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

// The hooks that wouter's Router takes.
export function useAddress(): [string, (to: string, options?: { replace?: boolean }) => void] {
  return [useSyncExternalStore(subscribe, () => pathOf(fragment())), navigate];
}
useAddress.hrefs = (href: string) => `#${href}`;

export function useAddressSearch(): string {
  return useSyncExternalStore(subscribe, () => searchOf(fragment()));
}

// One parameter of the view. Setting it replaces the entry of the history: moving about in a page
// is not a step to come back to.
export function useViewParameter(name: string): [string | null, (value: string | null) => void] {
  const value = new URLSearchParams(useAddressSearch()).get(name);
  const set = useCallback((next: string | null) => setViewParameters({ [name]: next }), [name]);
  return [value, set];
}

export function setViewParameters(values: Record<string, string | null>): void {
  const text = fragment();
  const search = new URLSearchParams(searchOf(text));
  for (const [name, value] of Object.entries(values)) {
    if (value === null) search.delete(name);
    else search.set(name, value);
  }
  const rest = search.toString();
  const to = pathOf(text) + (rest === "" ? "" : `?${rest}`);
  if (to !== text) navigate(to, { replace: true });
}
