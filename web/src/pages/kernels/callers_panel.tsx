// SPDX-License-Identifier: Apache-2.0
// Where launches of a kernel come from: scopes, what torch.compile says, and call stacks of a few.
import { useQueries } from "@tanstack/react-query";
import { type Answer, ask } from "../../api/client";
import { sessionPath } from "../../api/hooks";
import type { KernelCode } from "../../api/types";
import { count, duration, plural } from "../../base/format";
import { Chip, Copyable, Panel } from "../../widgets/parts";
import { Empty } from "../../widgets/states";
import { sessionHref } from "../session_frame";
import type { RecordedLimits } from "./occupancy_panel";
import { baseName } from "./code_model";

export interface LaunchFacts {
  device?: number;
  block?: number[];
  registers?: number;
  shared_static?: number;
  shared_dynamic?: number;
  stack?: string[];
  occupancy_limits?: RecordedLimits;
}

export interface ScopeGroup {
  path: string;
  own: { kernels?: number };
  kernels: { label: string; count: number; total_ns: number }[];
}

// A few launches that lie evenly in the list; their stacks stand for the others.
export function useLaunchFacts(session: string, events: string[]): LaunchFacts[] {
  return useQueries({
    queries: events.map((event) => {
      const path = sessionPath(session, `/events/${encodeURIComponent(event)}`);
      return {
        queryKey: [path, {}],
        queryFn: ({ signal }: { signal: AbortSignal }) => ask<LaunchFacts>(path, {}, signal),
      };
    }),
    combine: (results) =>
      results.flatMap(({ data }) => {
        const answer = data as Answer<LaunchFacts> | undefined;
        return answer?.state === "ready" ? [answer.data] : [];
      }),
  });
}

interface StackGroup {
  frames: string[];
  launches: number;
}

export function groupStacks(facts: LaunchFacts[]): StackGroup[] {
  const groups = new Map<string, StackGroup>();
  for (const { stack } of facts) {
    const frames = (stack ?? []).filter((frame) => !/^<.*>$/.test(frame));
    if (frames.length === 0) continue;
    const key = frames.join("\n");
    const group = groups.get(key) ?? { frames, launches: 0 };
    group.launches += 1;
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.launches - a.launches);
}

export function CallersPanel(props: {
  session: string;
  label: string;
  scopes: ScopeGroup[] | undefined;
  facts: LaunchFacts[];
  origins: KernelCode["origins"];
}) {
  const { session, label, facts, origins } = props;
  const scopes = (props.scopes ?? []).flatMap((scope) => {
    const kernel = scope.kernels.find((other) => other.label === label);
    return kernel && (scope.own.kernels ?? 0) > 0 ? [{ path: scope.path, kernel }] : [];
  });
  scopes.sort((a, b) => b.kernel.total_ns - a.kernel.total_ns);
  const stacks = groupStacks(facts);
  const isEmpty = scopes.length === 0 && stacks.length === 0 && origins.length === 0;
  return (
    <Panel title="Launched from">
      {isEmpty && (
        <Empty title="Nothing says where it is launched">
          Record call stacks with <code>gpufl trace --stacks -- python train.py</code>, or name
          parts of the program with <code>with gpufl.Scope("step"):</code>
        </Empty>
      )}
      {scopes.length > 0 && (
        <ul className="callers">
          {scopes.slice(0, 8).map(({ path, kernel }) => (
            <li key={path}>
              <a href={sessionHref(session, `scopes?q=${encodeURIComponent(path)}`)}>{path}</a>
              <span className="num">{count(kernel.count)}×</span>
              <span className="num">{duration(kernel.total_ns)}</span>
            </li>
          ))}
        </ul>
      )}
      {origins.map((origin) => (
        <div key={origin.file} className="callers-origin">
          <span className="dim">Compiled by torch.compile from</span> {origin.operators}{" "}
          {origin.places.map(({ file, line }) => (
            <Chip key={`${file}:${line}`}>
              {baseName(file)}:{line}
            </Chip>
          ))}
        </div>
      ))}
      {stacks.map(({ frames, launches }) => (
        <details key={frames.join("\n")} className="callers-stack" open={stacks.length === 1}>
          <summary>
            <span className="mono">{frames[0]}</span>{" "}
            <span className="dim">
              {launches} of {plural(facts.length, "launch", "launches")} looked at
            </span>
          </summary>
          <ol className="mono">
            {frames.map((frame, i) => (
              <li key={i}>
                <Copyable text={frame} />
              </li>
            ))}
          </ol>
        </details>
      ))}
    </Panel>
  );
}
