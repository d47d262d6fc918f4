// SPDX-License-Identifier: Apache-2.0
// What the program was doing: its scopes as a tree, and where time went as a flame graph.
import { useMemo, useRef, useState } from "react";
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { Flame, Scope } from "../../api/types";
import { setViewParameters, useViewParameter } from "../../base/address";
import { count, duration, plural } from "../../base/format";
import { classVariable } from "../../base/kernel_class";
import { useKeys } from "../../base/keys";
import { Kbd, Panel } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { bySamples, byScopes, type FlameNode, tellsStacks } from "./flame";
import { type FlameKernel, FlameGraph } from "./flame_graph";
import { sessionAddress, sessionHref } from "../session_frame";
import { ScopeDetail } from "./scope_detail";
import { ScopeTable } from "./scope_table";
import { type ScopeKey, visibleRows } from "./scope_tree";
import "./scopes.css";

interface View {
  key: string;
  title: string;
  isTime: boolean;
  make: () => FlameNode;
}

function upperFirst(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

// Scopes by themselves, then what was recorded with stacks or samples.
function viewsOf(scopes: Scope[], file: Flame | undefined): View[] {
  const views: View[] = [];
  if (scopes.length > 0) {
    const ofScopes = (by: "wall" | "gpu") => () => byScopes(scopes, by);
    views.push({ key: "wall", title: "Scopes by wall time", isTime: true, make: ofScopes("wall") });
    views.push({ key: "gpu", title: "Scopes by GPU time", isTime: true, make: ofScopes("gpu") });
  }
  file?.profiles.forEach((profile, index) => {
    if (!profile.samples?.length || !tellsStacks(file, profile.samples)) return;
    views.push({
      key: profile.name.replaceAll(" ", "-").toLowerCase(),
      title:
        profile.name === "GPU time by scope"
          ? "Scopes and kernels by GPU time"
          : upperFirst(profile.name),
      isTime: profile.unit === "nanoseconds",
      make: () => bySamples(file, index),
    });
  });
  return views;
}

// Kernels have the colours of their classes; all else is grey.
function useKernels(session: string): (node: FlameNode) => FlameKernel | null {
  const kernels = useApi(sessionPath(session, "/kernels"), { limit: 10000 }).data;
  return useMemo(() => {
    const known = new Map<string, FlameKernel>();
    for (const { label, full_name, class: kernelClass } of kernels?.by_name ?? []) {
      const href = sessionHref(session, `kernels/${encodeURIComponent(full_name)}`);
      known.set(full_name, { label, color: classVariable(kernelClass), href });
    }
    return ({ name, children }) => (children.length === 0 ? (known.get(name) ?? null) : null);
  }, [kernels, session]);
}

function Flames({ session, scopes, search }: { session: string; scopes: Scope[]; search: string }) {
  const listed = useApi(sessionPath(session, "")).data;
  const hasWork = scopes.length > 0 || (listed?.kernels ?? 0) > 0;
  const file = useApi(sessionPath(session, "/flame"), {}, { enabled: hasWork });
  const [chosen] = useViewParameter("flame");
  const [zoom, setZoom] = useViewParameter("zoom");
  const kernelOf = useKernels(session);
  const views = useMemo(() => viewsOf(scopes, file.data), [scopes, file.data]);
  const view = views.find(({ key }) => key === chosen) ?? views[0];
  const top = useMemo(() => view?.make(), [view]);
  if (!view || !top) {
    return (
      <Panel title="Flame graph">
        {hasWork ? (
          <Ready of={file} rows={4}>
            {() => <Empty title="Nothing to draw">Nothing of it has a time of its own.</Empty>}
          </Ready>
        ) : (
          <Empty title="Nothing to draw">This session has neither scopes nor GPU work.</Empty>
        )}
      </Panel>
    );
  }
  return (
    <Panel
      title="Flame graph"
      note="click to zoom in; arrows move, Enter zooms, Backspace goes back"
      actions={
        <select
          className="flame-choice"
          aria-label="What the flame graph shows"
          value={view.key}
          onChange={({ target }) => setViewParameters({ flame: target.value, zoom: null })}
        >
          {views.map(({ key, title }) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
      }
    >
      {top.value === 0 ? (
        <Empty title="No time to show here">
          None of it has GPU time. Choose another view above, or trace the program with{" "}
          <code>gpufl trace -- python train.py</code>.
        </Empty>
      ) : (
        <FlameGraph
          top={top}
          zoomed={zoom}
          onZoom={setZoom}
          search={search}
          format={view.isTime ? duration : count}
          kernelOf={kernelOf}
          label={`Flame graph: ${view.title}`}
        />
      )}
    </Panel>
  );
}

function ScopeTree({
  session,
  scopes,
  search,
}: {
  session: string;
  scopes: Scope[];
  search: string;
}) {
  const [sorted, setSorted] = useViewParameter("sort");
  const [chosen, setChosen] = useViewParameter("scope");
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const sortedBy = (sorted as ScopeKey | null) ?? "wall";
  const rows = useMemo(
    () => visibleRows(scopes, closed, sortedBy, search),
    [scopes, closed, sortedBy, search],
  );
  const scope = scopes.find(({ path }) => path === chosen);
  const fold = (path: string, isOpen: boolean) => {
    const next = new Set(closed);
    if (isOpen) next.delete(path);
    else next.add(path);
    setClosed(next);
  };
  return (
    <>
      <Panel title="Scopes" note={`${plural(scopes.length, "path")}; click one for its kernels`}>
        {rows.length === 0 ? (
          <Empty title="No scope has that name">Clear the search to see all of them.</Empty>
        ) : (
          <ScopeTable
            rows={rows}
            sortedBy={sortedBy}
            onSort={setSorted}
            onFold={fold}
            chosen={chosen}
            addressOf={(path) =>
              sessionAddress(session, `scopes?scope=${encodeURIComponent(path)}`)
            }
            onOpen={setChosen}
          />
        )}
      </Panel>
      {scope && (
        <ScopeDetail
          key={scope.path}
          session={session}
          scope={scope}
          close={() => setChosen(null)}
        />
      )}
    </>
  );
}

export default function ScopesPage({ session }: { session: string }) {
  const scopes = useSection(session, "scopes");
  const [search, setSearch] = useViewParameter("q");
  const input = useRef<HTMLInputElement>(null);
  useKeys([{ keys: "/", what: "Search scopes and frames", run: () => input.current?.focus() }]);
  return (
    <Ready of={scopes} rows={8}>
      {(all) => (
        <>
          <div className="scope-search">
            <input
              ref={input}
              type="search"
              placeholder="Search scopes, functions and kernels"
              aria-label="Search scopes, functions and kernels"
              value={search ?? ""}
              onChange={({ target }) => setSearch(target.value === "" ? null : target.value)}
              onKeyDown={({ key, currentTarget }) => {
                if (key !== "Escape") return;
                setSearch(null);
                currentTarget.blur();
              }}
            />
            <Kbd>/</Kbd>
          </div>
          <Flames session={session} scopes={all} search={search ?? ""} />
          {all.length === 0 ? (
            <Panel title="Scopes">
              <Empty title="The program opened no scopes">
                <p>
                  A scope names what the program is doing, and its kernels, copies and waits are
                  counted in it:
                </p>
                <p>
                  <code>with gpufl.Scope("forward"):</code> in Python,{" "}
                  <code>GFL_SCOPE("forward") {"{ … }"}</code> in C++
                </p>
                <p>
                  Without a change of the program,{" "}
                  <code>gpufl trace --stacks -- python train.py</code> records the stack of each
                  launch and wait for the flame graph.
                </p>
              </Empty>
            </Panel>
          ) : (
            <ScopeTree session={session} scopes={all} search={search ?? ""} />
          )}
        </>
      )}
    </Ready>
  );
}
