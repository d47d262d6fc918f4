// SPDX-License-Identifier: Apache-2.0
// Above the figures of a session that are not of all of it.
import { useSection } from "../api/hooks";
import { WithCode } from "./kernels/with_code";
import { partWords } from "./part_words";
import "./part_strip.css";

export function PartStrip({ session }: { session: string }) {
  const { data, isCurrent } = useSection(session, "options");
  const words = partWords(data, isCurrent);
  if (words.length === 0) return null;
  return (
    <div className="part-strip" role="status">
      {words.map(({ title, text }) => (
        <p key={title}>
          <b>{title}</b> <WithCode text={text} />
        </p>
      ))}
    </div>
  );
}
