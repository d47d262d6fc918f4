// SPDX-License-Identifier: Apache-2.0
// Where launches of a kernel come from, by what the reader asks for, and what torch.compile says.
import { useMemo, useState } from "react";
import type { Loaded } from "../../api/hooks";
import type { KernelCode } from "../../api/types";
import { setViewParameters, useViewParameter } from "../../base/address";
import { count, duration, percent, plural } from "../../base/format";
import { Bar, Chip, Copyable, Panel } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { TableTools } from "../../widgets/table_tools";
import { sessionHref } from "../session_frame";
import {
  type CallerKind,
  type CallerRow,
  callerViews,
  type CallerView,
  chosenView,
} from "./callers";
import { baseName } from "./code_model";
import { groupPath } from "./groups";

const SHOWN = 8;

// All work of the same caller: where a row leads.
function hrefOf(session: string, kind: CallerKind, { label, fullName }: CallerRow): string | null {
  if (kind === "scope") return sessionHref(session, `scopes?q=${encodeURIComponent(label)}`);
  if (kind === "stack" || kind === "call") return null;
  return sessionHref(session, groupPath(kind, fullName));
}

function Kinds({ views, chosen }: { views: CallerView[]; chosen: CallerView | null }) {
  return (
    <div className="kernels-groups callers-kinds" role="group" aria-label="Launches by">
      {views.map(({ kind, title, reason }) => (
        <button
          key={kind}
          className="btn"
          aria-pressed={kind === chosen?.kind}
          aria-disabled={reason !== null}
          title={reason?.replaceAll("`", "") ?? `Launches by ${title}`}
          onClick={() => {
            if (reason === null) setViewParameters({ callers: kind });
          }}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

function Figures({ row }: { row: CallerRow }) {
  return (
    <>
      <span className="num">{count(row.launches)}×</span>
      <span className="num">{duration(row.total)}</span>
      <span className="num">{percent(row.share)}</span>
      <Bar share={row.share} />
    </>
  );
}

function Stack({ row, frames }: { row: CallerRow; frames: string[] }) {
  return (
    <details>
      <summary className="caller">
        <span>
          {row.label}{" "}
          <span className="faint">{plural(frames.length + row.moreFrames, "frame")}</span>
        </span>
        <Figures row={row} />
      </summary>
      <ol className="mono">
        {frames.map((frame, i) => (
          <li key={i}>
            <Copyable text={frame} />
          </li>
        ))}
        {row.moreFrames > 0 && <li className="faint">and {count(row.moreFrames)} around it</li>}
      </ol>
    </details>
  );
}

function Caller({ session, kind, row }: { session: string; kind: CallerKind; row: CallerRow }) {
  if (row.frames !== null && row.frames.length > 0) return <Stack row={row} frames={row.frames} />;
  const href = row.isRest ? null : hrefOf(session, kind, row);
  return (
    <div className="caller">
      {href === null ? (
        <span className={row.isRest ? "faint" : ""}>{row.label}</span>
      ) : (
        <a href={href} title={row.fullName}>
          {row.label}
        </a>
      )}
      <Figures row={row} />
    </div>
  );
}

function Callers({ session, view }: { session: string; view: CallerView }) {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? view.rows : view.rows.slice(0, SHOWN);
  const hidden = view.rows.length - shown.length;
  const table = () => [
    [view.kind, "launches", "total_ns", "share"],
    ...view.rows.map(({ fullName, launches, total, share }) => [fullName, launches, total, share]),
  ];
  return (
    <>
      <TableTools name={`launched-from-${view.kind}`} table={table} rows={view.rows} />
      <ul className="callers">
        {shown.map((row) => (
          <li key={row.id}>
            <Caller session={session} kind={view.kind} row={row} />
          </li>
        ))}
      </ul>
      {(hidden > 0 || (isWhole && view.more !== "")) && (
        <p className="panel-foot dim">
          {hidden > 0 ? (
            <button className="btn" onClick={() => setIsWhole(true)}>
              Show {count(hidden)} more
            </button>
          ) : (
            view.more
          )}
        </p>
      )}
    </>
  );
}

function Told({ session, code }: { session: string; code: KernelCode }) {
  const [wanted] = useViewParameter("callers");
  const views = useMemo(() => callerViews(code.callers), [code]);
  const view = chosenView(views, wanted);
  return (
    <>
      <Kinds views={views} chosen={view} />
      {view ? (
        <Callers key={view.kind} session={session} view={view} />
      ) : (
        <Empty title="Nothing says where it is launched">
          To record call stacks: <code>gpufl trace --stacks -- python train.py</code>. To name parts
          of the program: <code>with gpufl.Scope("step"):</code>
        </Empty>
      )}
      {code.origins.map((origin) => (
        <div key={origin.file} className="callers-origin">
          <span className="dim">Compiled by torch.compile from</span> {origin.operators}{" "}
          {origin.places.map(({ file, line }) => (
            <Chip key={`${file}:${line}`}>
              {baseName(file)}:{line}
            </Chip>
          ))}
        </div>
      ))}
    </>
  );
}

export function CallersPanel({ session, code }: { session: string; code: Loaded<KernelCode> }) {
  return (
    <Panel title="Launched from" note={code.data && "shares are of this kernel's time"}>
      <Ready of={code} rows={5}>
        {(data) => <Told session={session} code={data} />}
      </Ready>
    </Panel>
  );
}
