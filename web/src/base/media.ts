// SPDX-License-Identifier: Apache-2.0
// What the system and the window are like: light or dark, wide or narrow.
import { useCallback, useSyncExternalStore } from "react";

const DARK = "(prefers-color-scheme: dark)";

export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = window.matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}

// Canvases have to be drawn again when it changes.
export function useIsDark(): boolean {
  return useMedia(DARK);
}
