// SPDX-License-Identifier: Apache-2.0
import { useSection } from "../../api/hooks";
import { Panel } from "../../widgets/parts";
import { InsightRow } from "../overview/insight_list";

// What the analysis advises about memory. Nothing to say, nothing shown: this is not the page's point.
export function MemoryAdvice({ session }: { session: string }) {
  const insights = useSection(session, "insights").data;
  const ours = (insights ?? []).filter(({ category }) => category === "MEMORY");
  if (ours.length === 0) return null;
  return (
    <Panel title="What to do first">
      {ours.map((insight, i) => (
        <InsightRow key={i} session={session} of={insight} rank={i + 1} />
      ))}
    </Panel>
  );
}
