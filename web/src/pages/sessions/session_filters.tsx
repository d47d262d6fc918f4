// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "react";
import { useApi } from "../../api/hooks";
import { pathOf } from "../../api/paths";
import type { Session } from "../../api/types";
import { setViewParameters } from "../../base/address";
import { useKeys } from "../../base/keys";
import { Kbd } from "../../widgets/parts";
import { choices } from "./session_rows";
import { clearFilters, type Filter, type Filters, isFiltered } from "./use_sessions";

const PAUSE_MS = 180;
const STATES: [Session["state"], string][] = [
  ["live", "Live"],
  ["complete", "Complete"],
  ["not proven", "Not proven"],
  ["losses", "Has losses"],
  ["unclosed", "Cut off"],
  ["damaged", "Damaged"],
  ["unreadable", "Unreadable"],
];

export function SessionFilters({ filters }: { filters: Filters }) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(filters.q ?? "");
  // What the filters offer is of all sessions, not of those that are shown now.
  const all = useApi(pathOf("/sessions"), { limit: 1000 }).data?.sessions ?? [];
  const hosts = useApi(pathOf("/hosts"), { limit: 1000 }).data?.hosts ?? [];
  useKeys([{ keys: "/", what: "Search sessions", run: () => field.current?.focus() }]);

  useEffect(() => setTyped(filters.q ?? ""), [filters.q]);
  useEffect(() => {
    const next = typed.trim() === "" ? null : typed;
    if (next === filters.q) return undefined;
    const timer = setTimeout(() => setViewParameters({ q: next }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, filters.q]);

  const tags = all.flatMap((session) => session.tags);
  const plain = (values: string[], chosen: string | null): [string, string][] =>
    choices(values, chosen).map((value) => [value, value]);
  return (
    <div className="session-filters" role="search">
      <span className="session-search">
        <input
          ref={field}
          className="text-field"
          type="search"
          aria-label="Search by name, command, host, path or id"
          placeholder="Search name, command, host"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        {typed === "" && <Kbd>/</Kbd>}
      </span>
      <Select name="state" any="Any state" options={STATES} filters={filters} />
      <Select
        name="host"
        any="Any host"
        options={plain(
          hosts.map(({ host }) => host),
          filters.host,
        )}
        filters={filters}
      />
      <Select
        name="app"
        any="Any program"
        options={plain(
          all.map(({ app }) => app),
          filters.app,
        )}
        filters={filters}
      />
      <Select
        name="engine"
        any="Any engine"
        options={plain(
          all.map(({ engine }) => engine),
          filters.engine,
        )}
        filters={filters}
      />
      {(tags.length > 0 || filters.tag !== null) && (
        <Select name="tag" any="Any tag" options={plain(tags, filters.tag)} filters={filters} />
      )}
      {isFiltered(filters) && (
        <button className="text-button" onClick={clearFilters}>
          Clear
        </button>
      )}
    </div>
  );
}

function Select({
  name,
  any,
  options,
  filters,
}: {
  name: Filter;
  any: string;
  options: [string, string][];
  filters: Filters;
}) {
  const value = filters[name];
  return (
    <select
      className={value === null ? "text-field" : "text-field on"}
      aria-label={any.replace("Any", "Filter by")}
      value={value ?? ""}
      onChange={(event) => setViewParameters({ [name]: event.target.value || null })}
    >
      <option value="">{any}</option>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}
