// SPDX-License-Identifier: Apache-2.0
// Two sessions one above the other, aligned where both begin or at a step that both have.
import { useMemo } from "react";
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { Iteration, Iterations, Unknown } from "../../api/types";
import { setViewParameters, useViewParameter } from "../../base/address";
import { count, isUnknown } from "../../base/format";
import { Panel } from "../../widgets/parts";
import { Ready } from "../../widgets/states";
import { alignedSpans, alignedStep, type Span, stepNumber } from "./align";
import { TimelinePair } from "./timeline_pair";

const HERE = { from: null, to: null };

function stepsIn(iterations: Iterations | Unknown | undefined): readonly Iteration[] {
  return iterations === undefined || isUnknown(iterations) ? [] : iterations.list;
}

function warmupsIn(iterations: Iterations | Unknown | undefined): number {
  return iterations === undefined || isUnknown(iterations) ? 0 : iterations.warmups;
}

// Of several repeats one is drawn.
function RepeatChoice({ letter, ids, at }: { letter: "a" | "b"; ids: string[]; at: number }) {
  if (ids.length < 2) return null;
  return (
    <select
      aria-label={`Repeat of ${letter.toUpperCase()}`}
      value={at}
      onChange={({ target }) =>
        setViewParameters({
          [`repeat-${letter}`]: target.value === "0" ? null : target.value,
          ...HERE,
        })
      }
    >
      {ids.map((id, i) => (
        <option key={id} value={i}>
          {letter.toUpperCase()}: repeat {i + 1} of {ids.length}
        </option>
      ))}
    </select>
  );
}

function StepChoice({ step, most, first }: { step: number | null; most: number; first: number }) {
  const set = (value: string | null) => setViewParameters({ step: value, ...HERE });
  return (
    <span className="aligned-choice">
      <select
        aria-label="Aligned at"
        value={step === null ? "start" : "step"}
        disabled={most === 0}
        title={most === 0 ? "No steps were found in both sessions" : undefined}
        onChange={({ target }) => set(target.value === "step" ? String(first) : null)}
      >
        <option value="start">Aligned at the first event</option>
        <option value="step">Aligned at a step</option>
      </select>
      {step !== null && (
        <input
          className="text-field num"
          type="number"
          aria-label={`Step, 1 to ${count(most)}`}
          min={1}
          max={most}
          value={step}
          onChange={({ target }) => {
            if (stepNumber(target.value, most) !== null) set(target.value);
          }}
        />
      )}
    </span>
  );
}

export function AlignedTimelines({ a, b }: { a: string[]; b: string[] }) {
  const [repeatA] = useViewParameter("repeat-a");
  const [repeatB] = useViewParameter("repeat-b");
  const [wanted] = useViewParameter("step");
  const atA = a[Number(repeatA ?? 0)] === undefined ? 0 : Number(repeatA ?? 0);
  const atB = b[Number(repeatB ?? 0)] === undefined ? 0 : Number(repeatB ?? 0);
  const idA = a[atA] ?? "";
  const idB = b[atB] ?? "";
  const tracksA = useApi(sessionPath(idA, "/tracks"));
  const tracksB = useApi(sessionPath(idB, "/tracks"));
  const iterationsA = useSection(idA, "iterations").data;
  const iterationsB = useSection(idB, "iterations").data;
  const stepsA = stepsIn(iterationsA);
  const stepsB = stepsIn(iterationsB);
  const most = Math.min(stepsA.length, stepsB.length);
  const step = stepNumber(wanted, most);
  // The first that is not a warm-up, where there is one.
  const first = Math.min(Math.max(warmupsIn(iterationsA), warmupsIn(iterationsB)) + 1, most);
  return (
    <Panel
      title="Timelines"
      note="as much time in both; moving one moves the other, Enter opens the selected event"
      actions={
        <>
          <RepeatChoice letter="a" ids={a} at={atA} />
          <RepeatChoice letter="b" ids={b} at={atB} />
          <StepChoice step={step} most={most} first={first} />
        </>
      }
    >
      <Ready of={tracksA} rows={4}>
        {(ofA) => (
          <Ready of={tracksB} rows={4}>
            {(ofB) =>
              ofA.span && ofB.span ? (
                <Aligned
                  sessions={[idA, idB]}
                  spans={[ofA.span, ofB.span]}
                  at={step === null ? null : alignedStep(step, stepsA, stepsB)}
                  isWaiting={wanted !== null && (!iterationsA || !iterationsB)}
                />
              ) : (
                <p className="diff-foot">One of the sessions has no events on a timeline.</p>
              )
            }
          </Ready>
        )}
      </Ready>
    </Panel>
  );
}

function Aligned({
  sessions,
  spans,
  at,
  isWaiting,
}: {
  sessions: [string, string];
  spans: [Span, Span];
  at: ReturnType<typeof alignedStep>;
  // The step that the address names is not known yet.
  isWaiting: boolean;
}) {
  const moments = at?.moments ?? [spans[0][0], spans[1][0]];
  const key = JSON.stringify([sessions, spans, moments]);
  const [spanA, spanB] = useMemo(() => alignedSpans(spans, moments), [key]);
  if (isWaiting) return <div className="aligned waiting" aria-busy="true" />;
  return (
    <TimelinePair
      key={key}
      sessions={sessions}
      spans={[spanA!, spanB!]}
      by={moments[1] - moments[0]}
      start={at?.view ?? null}
    />
  );
}
