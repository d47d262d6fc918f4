// SPDX-License-Identifier: Apache-2.0
// Everything that the palette can find.
import { useMemo } from "react";
import { apiUrl } from "../api/client";
import { useApi } from "../api/hooks";
import { pathOf, sessionPath } from "../api/paths";
import { useMayHaveFiles } from "../api/shares";
import type { Session } from "../api/types";
import { navigate } from "../base/address";
import { copyText } from "../base/clipboard";
import { EXPORT_FORMATS } from "../base/export_formats";
import { duration, wallTime } from "../base/format";
import type { KeyAction } from "../base/keys";
import { isGuest } from "../base/place";
import type { PaletteItem } from "./palette_items";

interface Named {
  label: string;
  full_name?: string;
  duration_ns: { total: number };
}

const MOST_NAMES = 2000;

function goTo(address: string): () => void {
  return () => navigate(address);
}

// Keys that work on the page are actions, too. Those of this dialog and single moves are not.
export function keyItems(keys: KeyAction[]): PaletteItem[] {
  return keys
    .filter(
      ({ keys: pressed }) =>
        pressed !== "Mod+k" && !/^(Shift\+)?(Arrow|Escape|Enter)/.test(pressed),
    )
    .map(({ keys: pressed, what, run }) => {
      const isPage = pressed.startsWith("g ");
      return {
        id: `key ${pressed} ${what}`,
        group: isPage ? "Pages" : "On this page",
        text: isPage ? what.replace(/^Go to /, "") : what,
        keys: pressed,
        isQuiet: !isPage,
        run,
      };
    });
}

function download(url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = "";
  link.click();
}

function sessionActions(session: string, mayHaveFiles: boolean): PaletteItem[] {
  const id = encodeURIComponent(session);
  const action = (text: string, run: () => void): PaletteItem => ({
    id: `action ${text}`,
    group: "Actions",
    text,
    run,
  });
  const others = [
    action("Compare with another session", goTo(`/compare?a=${id}`)),
    action("Copy the link to this view", () => {
      void copyText(window.location.href);
    }),
    action("All sessions", goTo("/sessions")),
  ];
  const files = [
    action("Open in Perfetto", goTo(`/s/${id}/log?open=perfetto`)),
    ...EXPORT_FORMATS.map(({ format, action: text }) =>
      action(text, () => download(apiUrl(sessionPath(session, "/export"), { format }))),
    ),
  ];
  return [...(isGuest ? [] : others), ...(mayHaveFiles ? files : [])];
}

function nameItems(
  names: Named[] | undefined,
  group: string,
  hrefOf: (name: string) => string,
): PaletteItem[] {
  return (names ?? []).map(({ label, full_name, duration_ns }) => ({
    id: `${group} ${full_name ?? label}`,
    group,
    text: label,
    detail: duration(duration_ns.total),
    run: goTo(hrefOf(full_name ?? label)),
  }));
}

function sessionItems(sessions: Session[]): PaletteItem[] {
  return sessions.map(({ id, app, host, path, start_wall_ns }) => ({
    id: `session ${id}`,
    group: "Sessions",
    text: [app || id, host, path].filter(Boolean).join(" · "),
    detail: wallTime(start_wall_ns),
    run: goTo(`/s/${encodeURIComponent(id)}`),
  }));
}

// Whether the session has more kernels than the palette looks among.
export function useHasMoreKernels(session: string | null): boolean {
  const asked = { enabled: session !== null };
  const kernels = useApi(sessionPath(session ?? "", "/kernels"), { limit: MOST_NAMES }, asked).data;
  return kernels !== undefined && kernels.names > kernels.by_name.length;
}

export function usePaletteItems(session: string | null, keys: KeyAction[]): PaletteItem[] {
  const enabled = { enabled: session !== null };
  const id = session ?? "";
  const mayHaveFiles = useMayHaveFiles();
  const sessions = useApi(pathOf("/sessions"), { limit: 1000 }).data;
  const kernels = useApi(sessionPath(id, "/kernels"), { limit: MOST_NAMES }, enabled).data;
  const scopes = useApi(sessionPath(id, "/scopes"), { limit: MOST_NAMES }, enabled).data;
  return useMemo(() => {
    const base = `/s/${encodeURIComponent(session ?? "")}`;
    const others = (sessions?.sessions ?? []).filter(({ id }) => id !== session);
    return [
      ...keyItems(keys),
      ...nameItems(
        kernels?.by_name,
        "Kernels",
        (name) => `${base}/kernels/${encodeURIComponent(name)}`,
      ),
      ...nameItems(
        scopes?.by_name,
        "Scopes",
        (name) => `${base}/scopes?q=${encodeURIComponent(name)}`,
      ),
      ...(session === null
        ? [{ id: "compare", group: "Actions", text: "Compare sessions", run: goTo("/compare") }]
        : sessionActions(session, mayHaveFiles)),
      ...sessionItems(others),
    ];
  }, [session, keys, sessions, kernels, scopes, mayHaveFiles]);
}
