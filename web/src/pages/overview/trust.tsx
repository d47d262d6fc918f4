// SPDX-License-Identifier: Apache-2.0
// How far the figures can be trusted: is the trace complete, what did recording cost, what is not in it.
import type { Coverage, Ledger } from "../../api/types";
import { count, percent, plural, sentence } from "../../base/format";
import { Badge, Panel } from "../../widgets/parts";
import { Empty } from "../../widgets/states";
import { sessionHref } from "../session_frame";
import { countedText, lossesOf, verdictTone } from "./ledger_words";
import type { NotRecorded } from "./not_recorded";
import { type Cost, whyNoCost } from "./summary";
import { WithCode } from "../kernels/with_code";

export function LedgerPanel({
  session,
  ledger,
  coverage,
}: {
  session: string;
  ledger: Ledger;
  coverage: Coverage | undefined;
}) {
  const losses = lossesOf(ledger);
  const counted = countedText(ledger);
  const rows = Object.values(ledger.rows_read).reduce((sum, number) => sum + number, 0);
  return (
    <Panel
      title="Is it complete?"
      actions={
        <Badge tone={verdictTone(ledger)}>{sentence(ledger.verdict).replace(/\.$/, "")}</Badge>
      }
    >
      <div className="trust">
        <p>{sentence(ledger.meaning)}</p>
        <dl>
          {counted !== null && (
            <>
              <dt>Launches</dt>
              <dd className="num">{counted}</dd>
            </>
          )}
          <dt>Rows read</dt>
          <dd className="num">{count(rows)}</dd>
          {coverage && coverage.share < 0.9995 && (
            <>
              <dt>Recorded</dt>
              <dd className="num">
                {percent(coverage.share)} of the session, in {plural(coverage.phases, "phase")}
              </dd>
            </>
          )}
        </dl>
        {losses.length > 0 && (
          <ul className="trust-losses">
            {losses.map(({ what, number }) => (
              <li key={what}>
                <b className="num">{count(number)}</b> {what}
              </li>
            ))}
          </ul>
        )}
        {ledger.problem_count > 0 && (
          <p className="dim">
            {plural(ledger.problem_count, "problem")} in the files:{" "}
            <a href={sessionHref(session, "log")}>the log</a> has them.
          </p>
        )}
        {ledger.problem_count === 0 && (
          <p>
            <a href={sessionHref(session, "log")}>All counts</a>
          </p>
        )}
      </div>
    </Panel>
  );
}

export function CostPanel({ cost, isLive }: { cost: Cost; isLive: boolean }) {
  return (
    <Panel title="What recording cost">
      {cost.parts.length === 0 ? (
        <Empty title="No figures">{whyNoCost(isLive)}</Empty>
      ) : (
        <dl className="trust cost">
          {cost.parts.map(({ label, text, what }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd className="num">{text}</dd>
              <dd className="dim">{what}</dd>
            </div>
          ))}
        </dl>
      )}
    </Panel>
  );
}

export function NotRecordedPanel({ list }: { list: NotRecorded[] }) {
  return (
    <Panel title="What was not recorded">
      {list.length === 0 ? (
        <Empty title="All that was asked for is here" />
      ) : (
        <ul className="not-recorded">
          {list.map(({ what, why, how }) => (
            <li key={what + why}>
              <b>{what}</b>
              <span>
                <span className="dim">{why}</span>{" "}
                {how !== "" && (
                  <span>
                    <WithCode text={how} />
                  </span>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
