// SPDX-License-Identifier: Apache-2.0
import { useSection } from "../../api/hooks";
import type { Insight } from "../../api/types";
import { duration, isUnknown, percent } from "../../base/format";
import { Badge, Panel, type Tone } from "../../widgets/parts";
import { sessionHref } from "../session_frame";

const TONES: Record<Insight["severity"], Tone> = { HIGH: "bad", MEDIUM: "warn", LOW: "plain" };
const WORDS: Record<Insight["severity"], string> = {
  HIGH: "Important",
  MEDIUM: "Worth a look",
  LOW: "Minor",
};

// What the analysis advises about memory. Nothing to say, nothing shown: this is not the page's point.
export function MemoryAdvice({ session }: { session: string }) {
  const insights = useSection(session, "insights").data;
  if (insights === undefined || isUnknown(insights)) return null;
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
  return (
    <article className="memory-advice">
      <div>
        <h3>{insight.title}</h3>
        <p className="dim">
          {insight.detail}
          {place && (
            <>
              {" · "}
              <a href={sessionHref(session, `timeline?from=${place.start_ns}&to=${place.end_ns}`)}>
                {place.text}
              </a>
            </>
          )}
        </p>
        <p>{insight.advice}</p>
      </div>
      <div className="memory-gain">
        {insight.gain_ns === null ? (
          <Badge tone={TONES[insight.severity]}>{WORDS[insight.severity]}</Badge>
        ) : (
          <>
            <b className="num">−{percent(insight.gain_share)}</b>
            <small>
              {duration(insight.gain_ns)}, {insight.confidence} confidence
            </small>
          </>
        )}
      </div>
    </article>
  );
}
