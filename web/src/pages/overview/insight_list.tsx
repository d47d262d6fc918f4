// SPDX-License-Identifier: Apache-2.0
// What to do first: the analysis' insights in its order, most time saved first.
import { type ReactNode, useState } from "react";
import type { Evidence, Insight } from "../../api/types";
import { Badge, Chip, Copyable, Panel } from "../../widgets/parts";
import { Empty } from "../../widgets/states";
import { duration, plural, withMicro } from "../../base/format";
import { sessionHref } from "../session_frame";
import {
  evidenceStep,
  gainOf,
  groupInsights,
  type InsightGroup,
  type KnowsKernel,
  placeOf,
  SEVERITY,
  timelinePath,
  wordsOf,
} from "./insight_words";
import { WithCode } from "../kernels/with_code";
import "./insights.css";

const SHOWN = 5;

interface Where {
  // null: they are of several sessions, whose pages none of them names.
  session: string | null;
  knows: KnowsKernel;
}

function LinkIn({
  session,
  path,
  className,
  children,
}: {
  session: string | null;
  path: string | null;
  className?: string;
  children: ReactNode;
}) {
  const named = className === undefined ? {} : { className };
  if (session === null || path === null) return <span {...named}>{children}</span>;
  return (
    <a {...named} href={sessionHref(session, path)}>
      {children}
    </a>
  );
}

function EvidenceRow({ session, of, knows }: Where & { of: Evidence }) {
  const timeline = timelinePath(of);
  return (
    <li>
      <span>{withMicro(of.text)}</span>
      {of.scope !== undefined && <span className="dim">in {of.scope}</span>}
      {of.kernel !== undefined && (
        <LinkIn
          session={session}
          path={knows(of.kernel) ? `kernels/${encodeURIComponent(of.kernel)}` : null}
          className="insight-kernel mono"
        >
          {of.kernel}
        </LinkIn>
      )}
      {of.file !== undefined && (
        <Copyable text={`${of.file}${of.line === undefined ? "" : `:${of.line}`}`} />
      )}
      {timeline !== null && session !== null && (
        <a href={sessionHref(session, timeline)}>on the timeline, {duration(of.start_ns)}</a>
      )}
    </li>
  );
}

function More({ session, of, knows }: Where & { of: Insight }) {
  const { more } = wordsOf(of);
  if (more === null && of.evidence.length === 0 && of.estimate === "") return null;
  return (
    <>
      {more !== null && <p>{more}</p>}
      {of.evidence.length > 0 && (
        <ul>
          {of.evidence.map((entry, i) => (
            <EvidenceRow key={i} session={session} of={entry} knows={knows} />
          ))}
        </ul>
      )}
      {of.estimate !== "" && (
        <p className="dim">How the gain was estimated: {withMicro(of.estimate)}</p>
      )}
    </>
  );
}

// Others of which the same is to be said: of other GPUs, of other pauses.
function Others({ session, others, knows }: Where & { others: Insight[] }) {
  if (others.length === 0) return null;
  return (
    <details>
      <summary>{plural(others.length, "more like it", "more like it")}</summary>
      {others.map((other, i) => {
        const step = evidenceStep(other);
        return (
          <div key={i} className="insight-other">
            <p>
              {wordsOf(other).evidence}{" "}
              {step && session !== null && (
                <a href={sessionHref(session, step.path)}>{step.words}</a>
              )}
            </p>
            <More session={session} of={other} knows={knows} />
          </div>
        );
      })}
    </details>
  );
}

function InsightRow({
  session,
  of: { first: of, others },
  rank,
  knows,
}: Where & { of: InsightGroup; rank: number }) {
  const { title, evidence, more } = wordsOf(of);
  const gain = gainOf(of);
  const place = placeOf(of, knows);
  const step = session === null ? null : evidenceStep(of);
  const first = place?.isWait ? place.path : (step?.path ?? null);
  const hasMore = more !== null || of.evidence.length > 0 || of.estimate !== "";
  const isLinked = session !== null && first !== null;
  return (
    <article className="insight">
      <span className="insight-rank num">{rank}</span>
      <div className="insight-body">
        <h3>{isLinked ? <a href={sessionHref(session, first)}>{title}</a> : title}</h3>
        <p className="dim">{evidence}</p>
        <p>
          <WithCode text={of.advice} />
        </p>
        {hasMore && (
          <details>
            <summary>Evidence</summary>
            <More session={session} of={of} knows={knows} />
          </details>
        )}
        <Others session={session} others={others} knows={knows} />
      </div>
      <div className="insight-place" title={place?.title}>
        {place && (
          <Chip
            href={
              place.path === null || session === null ? undefined : sessionHref(session, place.path)
            }
          >
            {place.text}
          </Chip>
        )}
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
            <span>no gain is known</span>
          </>
        )}
        {place?.isWait && place.path !== null && session !== null && (
          <a href={sessionHref(session, place.path)}>See the line that waits</a>
        )}
        {step && session !== null && <a href={sessionHref(session, step.path)}>{step.words}</a>}
      </div>
    </article>
  );
}

export function InsightList(
  props: Where & {
    insights: Insight[];
    // Why there is no GPU work to judge; null: there is some.
    whyNone: string | null;
    // Readings are what there is to see instead.
    hasHealth?: boolean;
  },
) {
  const { session, insights, whyNone, knows, hasHealth = false } = props;
  const [isAll, setIsAll] = useState(false);
  const groups = groupInsights(insights);
  const shown = isAll ? groups : groups.slice(0, SHOWN);
  const rest = groups.length - shown.length;
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
          {whyNone !== null ? (
            <>
              <WithCode text={whyNone} />
              {hasHealth && session !== null && (
                <>
                  {" "}
                  <a href={sessionHref(session, "health")}>See the readings of its GPUs</a>
                </>
              )}
            </>
          ) : session === null ? (
            "No rule found what its ranks do unevenly."
          ) : (
            <>
              No rule found time to save in what was recorded. To look inside kernels:{" "}
              <code>gpufl trace --engine PcSampling -- python train.py</code>
            </>
          )}
        </Empty>
      )}
      {shown.map((group, i) => (
        <InsightRow key={i} session={session} of={group} rank={i + 1} knows={knows} />
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
