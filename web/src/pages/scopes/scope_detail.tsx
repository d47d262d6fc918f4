// SPDX-License-Identifier: Apache-2.0
// One scope: how its times vary, its kernels and waits, its counters.
import type { ReactNode } from "react";
import type { Scope } from "../../api/types";
import { count, duration, isUnknown, percent, plain, plural, UNKNOWN } from "../../base/format";
import { Copyable, Panel } from "../../widgets/parts";
import { TableTools } from "../../widgets/table_tools";
import { sessionHref } from "../session_frame";
import { unknownCell } from "./scope_table";
import { workOf } from "./scope_tree";

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="num">{children}</dd>
    </>
  );
}

function copiesOf(scope: Scope): string {
  const total = workOf(scope.total);
  if (!total) return UNKNOWN;
  return total.copies === 0 ? "none" : `${count(total.copies)}, ${duration(total.copy_ns)}`;
}

export function ScopeDetail({
  session,
  scope,
  close,
}: {
  session: string;
  scope: Scope;
  close: () => void;
}) {
  const stats = scope.duration_stats_ns;
  const kernels = Array.isArray(scope.kernels) ? scope.kernels : [];
  const waits = Array.isArray(scope.waits) ? scope.waits : [];
  const busy = typeof scope.busy_ns === "number" ? scope.busy_ns : null;
  const more = typeof scope.kernel_names === "number" ? scope.kernel_names - kernels.length : 0;
  return (
    <Panel
      title={<Copyable text={scope.path} />}
      note={`entered ${plural(scope.duration_ns.count, "time")}`}
      actions={
        <button className="btn" onClick={close}>
          Close
        </button>
      }
    >
      <div className="scope-detail">
        <dl>
          <Line name="Median">{duration(stats?.median)}</Line>
          <Line name="90% take at most">{duration(stats?.p90)}</Line>
          <Line name="Slowest">{duration(stats?.max)}</Line>
          <Line name="GPU busy">
            {unknownCell(scope.busy_ns, duration)}
            {busy !== null && scope.duration_ns.total > 0 && (
              <span className="dim"> {percent(busy / scope.duration_ns.total)}</span>
            )}
          </Line>
          <Line name="Launch latency, mean">{unknownCell(scope.mean_launch_ns, duration)}</Line>
          <Line name="Copies">{copiesOf(scope)}</Line>
          <Line name="Energy">
            {unknownCell(scope.energy_joules, (value) => `${plain(value)} J`)}
          </Line>
          {scope.open > 0 && <Line name="Still open at the end">{count(scope.open)}</Line>}
          {scope.lost > 0 && <Line name="Lost">{count(scope.lost)}</Line>}
        </dl>
        <div>
          <h3>Kernels with the most time</h3>
          {kernels.length > 0 && (
            <TableTools
              name={`kernels-of-${scope.path.replaceAll(" > ", "-")}`}
              table={() => [
                ["kernel", "launches", "total_ns"],
                ...kernels.map(({ label, count: launches, total_ns }) => [
                  label,
                  launches,
                  total_ns,
                ]),
              ]}
              rows={kernels}
            />
          )}
          {kernels.length === 0 ? (
            <p className="dim">
              {isUnknown(scope.kernels) ? scope.kernels.unknown : "None was launched in it."}
            </p>
          ) : (
            <ul>
              {kernels.map(({ label, count: launches, total_ns }) => (
                <li key={label}>
                  <a
                    href={sessionHref(session, `kernels/${encodeURIComponent(label)}`)}
                    title={label}
                  >
                    {label}
                  </a>
                  <span className="num dim">× {count(launches)}</span>
                  <span className="num">{duration(total_ns)}</span>
                </li>
              ))}
              {more > 0 && <li className="faint">and {plural(more, "more name", "more names")}</li>}
            </ul>
          )}
        </div>
        {waits.length > 0 && (
          <div>
            <h3>Waits with the most time</h3>
            <ul>
              {waits.map(({ label, count: times, total_ns }) => (
                <li key={label}>
                  <a href={sessionHref(session, `sync?call=${encodeURIComponent(label)}`)}>
                    {label}
                  </a>
                  <span className="num dim">× {count(times)}</span>
                  <span className="num">{duration(total_ns)}</span>
                </li>
              ))}
            </ul>
          </div>
        )}
        {scope.counters.length > 0 && (
          <div>
            <h3>Counters</h3>
            <ul>
              {scope.counters.map(({ name, increase, per_second }) => (
                <li key={name}>
                  <span>{name}</span>
                  <span className="num">
                    {unknownCell(increase, (value) => `+${plain(value)}`)}
                  </span>
                  <span className="num">
                    {unknownCell(per_second, (value) => `${plain(value)}/s`)}
                  </span>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Panel>
  );
}
