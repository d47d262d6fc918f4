// SPDX-License-Identifier: Apache-2.0
import { useSection } from "../../api/hooks";
import type { Insight } from "../../api/types";
import { withMicro } from "../../base/format";
import { Badge, Panel } from "../../widgets/parts";
import { gainOf, SEVERITY, wordsOf } from "../overview/insight_words";
import { sessionHref } from "../session_frame";

// What the analysis advises about memory. Nothing to say, nothing shown: this is not the page's point.
export function MemoryAdvice({ session }: { session: string }) {
  const insights = useSection(session, "insights").data;
  if (insights === undefined) return null;
  const ours = insights.filter(({ category }) => category === "MEMORY");
  if (ours.length === 0) return null;
  return (
    <Panel title="What to do first">
      {ours.map((insight, i) => (
        <Advice key={i} insight={insight} session={session} />
      ))}
    </Panel>
  );
}

function Advice({ insight, session }: { insight: Insight; session: string }) {
  const place = insight.evidence.find(
    ({ start_ns, end_ns }) => start_ns !== undefined && end_ns !== undefined && end_ns > start_ns,
  );
  const { title, evidence, more } = wordsOf(insight);
  const gain = gainOf(insight);
  return (
    <article className="memory-advice">
      <div>
        <h3>{title}</h3>
        <p className="dim">
          {evidence}
          {more !== null && ` · ${more}`}
          {place && (
            <>
              {" · "}
              <a href={sessionHref(session, `timeline?from=${place.start_ns}&to=${place.end_ns}`)}>
                {withMicro(place.text)}
              </a>
            </>
          )}
        </p>
        <p>{insight.advice}</p>
      </div>
      <div className="memory-gain">
        {gain === null ? (
          <Badge tone={SEVERITY[insight.severity].tone}>{SEVERITY[insight.severity].word}</Badge>
        ) : (
          <>
            <b className="num">{gain.text}</b>
            <small>{gain.more}</small>
          </>
        )}
      </div>
    </article>
  );
}
