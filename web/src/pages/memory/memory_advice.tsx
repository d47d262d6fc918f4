// SPDX-License-Identifier: Apache-2.0
import { useSection } from "../../api/hooks";
import { InsightList } from "../overview/insight_list";
import { kernelsKnownTo } from "../overview/insight_words";

// What the analysis advises about memory. Nothing to say, nothing shown: this is not the page's point.
export function MemoryAdvice({ session }: { session: string }) {
  const insights = useSection(session, "insights").data;
  const kernels = useSection(session, "kernels").data;
  const ours = (insights ?? []).filter(({ category }) => category === "MEMORY");
  if (ours.length === 0) return null;
  return (
    <InsightList session={session} insights={ours} knows={kernelsKnownTo(kernels)} whyNone={null} />
  );
}
