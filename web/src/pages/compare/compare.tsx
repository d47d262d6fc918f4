// SPDX-License-Identifier: Apache-2.0
// What changed between two sessions, or two groups of repeats.
import { useEffect } from "react";
import { useApi } from "../../api/hooks";
import { pathOf } from "../../api/paths";
import type { Diff } from "../../api/types";
import { setViewParameters, useViewParameter } from "../../base/address";
import { FindButton } from "../../widgets/find_button";
import { Badge, Panel, ShareButton } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { TopBar } from "../../widgets/top_bar";
import { AlignedTimelines } from "./aligned_timelines";
import { DiffTables, Totals } from "./diff_tables";
import { confidence, headline, idsOf, iterationsText, scopesText, warningText } from "./diff_words";
import { SidePicker } from "./side_picker";
import "./compare.css";

export default function Compare() {
  const [a, setA] = useViewParameter("a");
  const [b, setB] = useViewParameter("b");
  const idsA = idsOf(a);
  const idsB = idsOf(b);
  const isReady = idsA.length > 0 && idsB.length > 0;
  useEffect(() => {
    document.title = "Compare · GPUFlight";
  }, []);
  const write = (set: (value: string | null) => void) => (ids: string[]) =>
    set(ids.length === 0 ? null : ids.join(","));
  return (
    <>
      <TopBar
        crumbs={["Compare"]}
        actions={
          <>
            <FindButton what="sessions and actions" />
            <a className="btn" href="#/sessions">
              Sessions
            </a>
            <ShareButton what="this comparison" />
          </>
        }
      />
      <main className="page">
        <h1 className="visually-hidden">Compare</h1>
        <Panel className="sides">
          <SidePicker name="A" ids={idsA} setIds={write(setA)} others={idsB} />
          <button
            className="btn side-swap"
            disabled={idsA.length + idsB.length === 0}
            onClick={() => setViewParameters({ a: b, b: a })}
            title="Make A of B, and B of A"
          >
            Swap
          </button>
          <SidePicker name="B" ids={idsB} setIds={write(setB)} others={idsA} />
        </Panel>
        {isReady ? <Result a={idsA} b={idsB} /> : <Teach hasOne={idsA.length + idsB.length > 0} />}
      </main>
    </>
  );
}

function Teach({ hasOne }: { hasOne: boolean }) {
  return (
    <Empty
      title={hasOne ? "Choose what to compare it with" : "Choose a session for A and one for B"}
    >
      <p>
        A is what it was, B is what it is now. With one run of each, large differences are seen.
        With five repeats of each, differences stand out from noise:
      </p>
      <p>
        <code>for i in 1 2 3 4 5; do gpufl trace -n before -- python train.py; done</code>
      </p>
    </Empty>
  );
}

function Result({ a, b }: { a: string[]; b: string[] }) {
  const diff = useApi(pathOf("/diff"), { a: a.join(","), b: b.join(",") });
  return (
    <Ready of={diff} rows={6}>
      {(found) => (
        <>
          <VerdictPanel diff={found} />
          <Totals diff={found} />
          <DiffTables diff={found} a={a} b={b} />
          <AlignedTimelines a={a} b={b} />
        </>
      )}
    </Ready>
  );
}

function VerdictPanel({ diff }: { diff: Diff }) {
  const verdict = headline(diff);
  const sure = confidence(diff);
  const missing = [!diff.a.records_gpu_work && "A", !diff.b.records_gpu_work && "B"].filter(
    Boolean,
  );
  return (
    <section className={`panel verdict ${verdict.tone}`} aria-label="Verdict">
      <h2>{verdict.text}</h2>
      <p>
        <Badge tone={sure.tone}>{diff.proof === "none" ? "not proven" : "proven"}</Badge>{" "}
        <span className="dim">{sure.text.replace(/^(Not proven|Proven)(: | )/, "")}</span>
      </p>
      {missing.length > 0 && (
        <p className="verdict-warning">
          GPU work of {missing.join(" and ")} was not recorded, so it is not compared.
        </p>
      )}
      {diff.warnings.map((warning) => (
        <p key={warning} className="verdict-warning">
          {warningText(warning, diff)}
        </p>
      ))}
      {diff.scopes_apart && <p className="faint">{scopesText(diff)}</p>}
      {diff.per_iteration && (
        <p className="faint">
          Figures are of one iteration. A: {iterationsText(diff.per_iteration.a)}. B:{" "}
          {iterationsText(diff.per_iteration.b)}. Warm-up and what runs outside of iterations are
          left out.
        </p>
      )}
    </section>
  );
}
