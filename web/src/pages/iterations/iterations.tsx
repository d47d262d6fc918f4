// SPDX-License-Identifier: Apache-2.0
// How long each step of the run took, and which ones are unusual.
import { useMemo, useState } from "react";
import { useSection } from "../../api/hooks";
import type { Iterations } from "../../api/types";
import { navigate, useViewParameter } from "../../base/address";
import {
  count,
  duration,
  isUnknown,
  percent,
  plain,
  plural,
  timeQuantity,
} from "../../base/format";
import { Chart } from "../../widgets/chart";
import { Badge, Facts, Panel } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { type Column, DataTable } from "../../widgets/table";
import { timeCell } from "../../widgets/time_cell";
import { TableTools } from "../../widgets/table_tools";
import { sessionAddress } from "../session_frame";
import { BenchmarkScopes } from "./benchmarks";
import { StepDetail } from "./step_detail";
import { chartCeiling, idleShare, reasonOf, type Step, stepsOf } from "./steps";
import "./iterations.css";

const LEAST_FOR_P90 = 10;

const FOUND_BY: Record<string, string> = {
  scopes: "scopes named",
  markers: "ranges named",
  "kernel sequence": "the kernels that repeat, which begin with",
};

function timelineAddress(session: string, { start_ns, end_ns }: Step): string {
  return sessionAddress(session, `timeline?from=${start_ns}&to=${end_ns}`);
}

function kindBadge(kind: Step["kind"]) {
  if (kind === "outlier") return <Badge tone="warn">Outlier</Badge>;
  if (kind === "warm-up") return <Badge tone="plain">Warm-up</Badge>;
  if (kind === "cut") {
    return (
      <span className="dim" title="No step follows, so nobody knows where this one ends">
        end unknown
      </span>
    );
  }
  return null;
}

function columnsOf(session: string): Column<Step>[] {
  return [
    {
      key: "step",
      title: "Step",
      value: ({ number }) => number,
      cell: ({ number }) => count(number),
      isNumber: true,
      width: "78px",
    },
    {
      key: "kind",
      title: <span className="visually-hidden">Kind</span>,
      value: ({ kind }) => (kind === "usual" ? "" : kind),
      cell: ({ kind }) => kindBadge(kind),
      width: "124px",
    },
    {
      key: "start_ns",
      title: "Start",
      value: ({ start_ns }) => start_ns,
      cell: ({ start_ns }) => timeCell(start_ns),
      isNumber: true,
      width: "minmax(92px, 1fr)",
    },
    {
      key: "duration_ns",
      title: "Duration",
      value: ({ duration_ns, kind }) => (kind === "cut" ? null : duration_ns),
      cell: ({ duration_ns, kind }) => timeCell(kind === "cut" ? null : duration_ns),
      isNumber: true,
      width: "minmax(92px, 1fr)",
    },
    {
      key: "kernels",
      title: "Kernels",
      value: ({ kernels }) => kernels,
      cell: ({ kernels }) => count(kernels),
      isNumber: true,
      width: "minmax(84px, 1fr)",
    },
    {
      key: "kernel_ns",
      title: "Kernel time",
      value: ({ kernel_ns }) => kernel_ns,
      cell: ({ kernel_ns }) => timeCell(kernel_ns),
      isNumber: true,
      hint: "Durations of its kernels, added up",
      width: "minmax(104px, 1fr)",
    },
    {
      key: "idle_share",
      title: "Without kernels",
      value: idleShare,
      cell: (step) => percent(idleShare(step)),
      isNumber: true,
      hint: "Share of the step that its kernels do not fill; where kernels overlap, it is more",
      width: "minmax(130px, 1fr)",
    },
    {
      key: "timeline",
      title: <span className="visually-hidden">On the timeline</span>,
      value: () => null,
      cell: (step) => (
        <a href={`#${timelineAddress(session, step)}`} onClick={(event) => event.stopPropagation()}>
          Timeline
        </a>
      ),
      width: "86px",
    },
  ];
}

function StepChart({ session, steps, data }: { session: string; steps: Step[]; data: Iterations }) {
  const [showsAll, setShowsAll] = useState(false);
  const ceiling = chartCeiling(steps, data.duration_ns);
  const timed = useMemo(() => steps.filter(({ kind }) => kind !== "cut"), [steps]);
  const x = useMemo(() => timed.map(({ number }) => number), [timed]);
  const series = useMemo(() => {
    const of = (kind: Step["kind"]) =>
      timed.map((step) => (step.kind === kind ? step.duration_ns : null));
    const all = [
      { kind: "usual", label: "steps", color: "var(--accent)" },
      { kind: "outlier", label: "outliers", color: "var(--k-reduction)" },
      { kind: "warm-up", label: "warm-ups", color: "var(--scope)" },
    ] as const;
    return all
      .filter(({ kind }) => timed.some((step) => step.kind === kind))
      .map(({ kind, label, color }) => ({ label, color, values: of(kind) }));
  }, [timed]);
  const cut =
    ceiling === null ? 0 : timed.filter(({ duration_ns }) => duration_ns > ceiling).length;
  return (
    <Chart
      title="Time of each step"
      x={x}
      series={series}
      format={duration}
      height={200}
      shape="bars"
      axis="number"
      axisName="step"
      {...(ceiling === null || showsAll ? {} : { maxValue: ceiling })}
      onPick={(number) => {
        const step = timed.find((one) => one.number === Math.round(number));
        if (step) navigate(timelineAddress(session, step));
      }}
      note={
        cut === 0 ? undefined : (
          <button className="link" onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? "Cut off the longest" : `${plural(cut, "bar")} cut off: show whole`}
          </button>
        )
      }
    />
  );
}

function Outliers({ session, steps, data }: { session: string; steps: Step[]; data: Iterations }) {
  const kernelMedian = isUnknown(data.kernel_ns) ? null : (data.kernel_ns.median ?? null);
  const median = data.duration_ns.median ?? 0;
  const slowest = steps
    .filter(({ kind }) => kind === "outlier")
    .sort((a, b) => b.duration_ns - a.duration_ns);
  const table = () => [
    ["step", "start_ns", "duration_ns", "of_median", "reason"],
    ...slowest.map((step) => [
      step.number,
      step.start_ns,
      step.duration_ns,
      median > 0 ? step.duration_ns / median : null,
      reasonOf(step, median, kernelMedian),
    ]),
  ];
  return (
    <Panel
      title="Outliers"
      note={
        slowest.length === 0
          ? "none: no step stands out"
          : `${plural(slowest.length, "step")} far above the median, slowest first`
      }
    >
      {slowest.length > 0 && <TableTools name="outliers" table={table} rows={slowest} />}
      {slowest.length > 0 && (
        <ul className="steps-outliers">
          {slowest.slice(0, 8).map((step) => (
            <li key={step.number}>
              <a href={`#${timelineAddress(session, step)}`}>Step {count(step.number)}</a>
              <b className="num">{duration(step.duration_ns)}</b>
              <span className="num dim">{plain(step.duration_ns / median, 3)} × the median</span>
              <span className="dim">{reasonOf(step, median, kernelMedian)}</span>
            </li>
          ))}
          {slowest.length > 8 && (
            <li className="faint">and {count(slowest.length - 8)} more in the table below</li>
          )}
        </ul>
      )}
    </Panel>
  );
}

function Found({ session, data }: { session: string; data: Iterations }) {
  const steps = useMemo(() => stepsOf(data), [data]);
  const columns = useMemo(() => columnsOf(session), [session]);
  const [chosen, setChosen] = useViewParameter("step");
  const step = steps.find(({ number }) => String(number) === chosen);
  const { duration_ns: stats } = data;
  const median = timeQuantity(stats.median);
  const kernel = isUnknown(data.kernel_ns) ? null : data.kernel_ns;
  const outliers = steps.filter(({ kind }) => kind === "outlier").length;
  const open = (one: Step) => setChosen(String(one.number));
  return (
    <>
      <Facts
        of={[
          {
            label: "Step, median",
            value: median.value,
            unit: median.unit,
            hint: "Warm-ups and steps whose end is unknown are left out",
          },
          // Of a few steps it is the slowest.
          ...(stats.count < LEAST_FOR_P90
            ? []
            : [
                {
                  label: "90% take at most",
                  value: timeQuantity(stats.p90).value,
                  unit: timeQuantity(stats.p90).unit,
                },
              ]),
          {
            label: "Slowest",
            value: timeQuantity(stats.max).value,
            unit: timeQuantity(stats.max).unit,
          },
          {
            label: "Kernel time in a step",
            value: timeQuantity(kernel?.median).value,
            unit: kernel ? `${timeQuantity(kernel.median).unit}, median` : undefined,
            hint: isUnknown(data.kernel_ns) ? data.kernel_ns.unknown : "Their durations, added up",
          },
          {
            label: "Steps",
            value: `${data.is_lower_bound ? "≥ " : ""}${count(data.list.length)}`,
            unit: data.warmups > 0 ? plural(data.warmups, "warm-up") : undefined,
            hint: data.is_lower_bound ? "Some were lost, or the session was cut off" : undefined,
          },
          { label: "Outliers", value: count(outliers) },
        ]}
      />
      <Panel
        title="Steps over the run"
        note={
          <>
            found by {FOUND_BY[data.source] ?? data.source}{" "}
            <span className="mono">{data.label}</span>; they cover {percent(data.coverage)} of the
            run; click a bar to see it on the timeline
          </>
        }
      >
        <StepChart session={session} steps={steps} data={data} />
      </Panel>
      {step && (
        <StepDetail key={step.number} session={session} step={step} close={() => setChosen(null)} />
      )}
      <Outliers session={session} steps={steps} data={data} />
      <Panel title="All steps" note="click one for what it did">
        <DataTable
          rows={steps}
          columns={columns}
          rowKey={({ number }) => String(number)}
          name="iterations"
          sortedBy="step"
          isAscending
          addressOf={({ number }) => sessionAddress(session, `iterations?step=${number}`)}
          onOpen={open}
          isSelected={(row) => row === step}
        />
      </Panel>
    </>
  );
}

export default function IterationsPage({ session }: { session: string }) {
  const iterations = useSection(session, "iterations");
  return (
    <>
      <Ready of={iterations} rows={8}>
        {(data) =>
          isUnknown(data) ? (
            <Panel>
              <Empty title="No steps were found">
                <p>Why: {data.unknown}.</p>
                <p>
                  Put a scope around each step, and this page shows how long each one takes and
                  which are unusual: <code>with gpufl.Scope("step"):</code> in Python,{" "}
                  <code>GFL_SCOPE("step") {"{ … }"}</code> in C++.
                </p>
              </Empty>
            </Panel>
          ) : (
            <Found session={session} data={data} />
          )
        }
      </Ready>
      <BenchmarkScopes session={session} />
    </>
  );
}
