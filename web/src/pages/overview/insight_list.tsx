// SPDX-License-Identifier: Apache-2.0
// What to do first: the analysis' insights in its order, most time saved first.
import { useState } from "react";
import type { Evidence, Insight } from "../../api/types";
import { Badge, Chip, Copyable, Panel } from "../../widgets/parts";
import { Empty } from "../../widgets/states";
import { duration, plural, withMicro } from "../../base/format";
import { sessionHref } from "../session_frame";
import { evidenceStep, gainOf, placeOf, SEVERITY, timelinePath, wordsOf } from "./insight_words";
import { WithCode } from "../kernels/with_code";
import "./insights.css";

const SHOWN = 5;

function EvidenceRow({ session, of }: { session: string; of: Evidence }) {
  const timeline = timelinePath(of);
  return (
    <li>
      <span>{withMicro(of.text)}</span>
      {of.scope !== undefined && <span className="dim">in {of.scope}</span>}
      {of.kernel !== undefined && (
        <a
          className="insight-kernel mono"
          href={sessionHref(session, `kernels/${encodeURIComponent(of.kernel)}`)}
        >
          {of.kernel}
        </a>
      )}
      {of.file !== undefined && (
        <Copyable text={`${of.file}${of.line === undefined ? "" : `:${of.line}`}`} />
      )}
      {timeline !== null && (
        <a href={sessionHref(session, timeline)}>on the timeline, {duration(of.start_ns)}</a>
      )}
    </li>
  );
}

export function InsightRow({ session, of, rank }: { session: string; of: Insight; rank: number }) {
  const { title, evidence, more } = wordsOf(of);
  const gain = gainOf(of);
  const place = placeOf(of);
  const step = evidenceStep(of);
  const first = place?.isWait ? place.path : step?.path;
  return (
    <article className="insight">
      <span className="insight-rank num">{rank}</span>
      <div className="insight-body">
        <h3>{first ? <a href={sessionHref(session, first)}>{title}</a> : title}</h3>
        <p className="dim">{evidence}</p>
        <p>
          <WithCode text={of.advice} />
        </p>
        {(more !== null || of.evidence.length > 0 || of.estimate !== "") && (
          <details>
            <summary>Evidence</summary>
            {more !== null && <p>{more}</p>}
            {of.evidence.length > 0 && (
              <ul>
                {of.evidence.map((entry, i) => (
                  <EvidenceRow key={i} session={session} of={entry} />
                ))}
              </ul>
            )}
            {of.estimate !== "" && (
              <p className="dim">How the gain was estimated: {withMicro(of.estimate)}</p>
            )}
          </details>
        )}
      </div>
      <div className="insight-place" title={place?.title}>
        {place && <Chip href={sessionHref(session, place.path)}>{place.text}</Chip>}
      </div>
      <div className="insight-gain">
        {gain ? (
          <>
            <b className="num" title="Of the session's time">
              {gain.text}
            </b>
            <span>{gain.more}</span>
          </>
        ) : (
          <>
            <Badge tone={SEVERITY[of.severity].tone}>{SEVERITY[of.severity].word}</Badge>
            <span>no gain can be told</span>
          </>
        )}
        {place?.isWait && <a href={sessionHref(session, place.path)}>See the line that waits</a>}
        {step && <a href={sessionHref(session, step.path)}>{step.words}</a>}
      </div>
    </article>
  );
}

export function InsightList(props: {
  session: string;
  insights: Insight[];
  // Why there is no GPU work to judge; null: there is some.
  whyNone: string | null;
}) {
  const { session, insights, whyNone } = props;
  const [isAll, setIsAll] = useState(false);
  const shown = isAll ? insights : insights.slice(0, SHOWN);
  const rest = insights.length - shown.length;
  return (
    <Panel
      title="What to do first"
      note={
        insights.some(({ gain_ns }) => gain_ns !== null)
          ? "ranked by time saved; gains may overlap"
          : undefined
      }
    >
      {insights.length === 0 && (
        <Empty title={whyNone === null ? "Nothing stands out" : "Nothing to judge"}>
          {whyNone === null ? (
            <>
              No rule found time to save in what was recorded. To look inside kernels:{" "}
              <code>gpufl trace --engine PcSampling -- python train.py</code>
            </>
          ) : (
            <WithCode text={whyNone} />
          )}
        </Empty>
      )}
      {shown.map((insight, i) => (
        <InsightRow key={i} session={session} of={insight} rank={i + 1} />
      ))}
      {rest > 0 && (
        <p className="insight-more">
          <button className="btn" onClick={() => setIsAll(true)}>
            Show {plural(rest, "more insight")}
          </button>
        </p>
      )}
    </Panel>
  );
}
