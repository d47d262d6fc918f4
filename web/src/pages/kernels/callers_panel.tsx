// SPDX-License-Identifier: Apache-2.0
// Where launches of a kernel come from, by what the reader asks for, and what torch.compile says.
import { useMemo, useState } from "react";
import type { Loaded } from "../../api/hooks";
import type { KernelCode } from "../../api/types";
import { setViewParameters, useViewParameter } from "../../base/address";
import { count, duration, percent, plural } from "../../base/format";
import { Bar, Chip, Copyable, Panel } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { sessionHref } from "../session_frame";
import {
  type CallerKind,
  type CallerRow,
  callerViews,
  type CallerView,
  chosenView,
} from "./callers";
import { baseName } from "./code_model";
import { WithCode } from "./with_code";

const SHOWN = 8;

// All work of the same caller: where a row leads.
function hrefOf(session: string, kind: CallerKind, { label }: CallerRow): string | null {
  const words = encodeURIComponent(label);
  if (kind === "scope") return sessionHref(session, `scopes?q=${words}`);
  if (kind === "stack" || kind === "call") return null;
  return sessionHref(session, `kernels?by=${kind}&q=${words}`);
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

function Stack({ row }: { row: CallerRow }) {
  const frames = row.frames ?? [];
  if (frames.length === 0) return <span className="faint">{row.label}</span>;
  return (
    <details className="callers-stack">
      <summary>
        {row.label} <span className="faint">{plural(frames.length + row.moreFrames, "frame")}</span>
      </summary>
      <ol className="mono">
        {frames.map((frame, i) => (
          <li key={i}>
            <Copyable text={frame} />
          </li>
        ))}
        {row.moreFrames > 0 && <li className="faint">and {count(row.moreFrames)} outside of it</li>}
      </ol>
    </details>
  );
}

function Caller({ session, kind, row }: { session: string; kind: CallerKind; row: CallerRow }) {
  const href = hrefOf(session, kind, row);
  return (
    <li>
      {kind === "stack" ? (
        <Stack row={row} />
      ) : row.isRest || href === null ? (
        <span className={row.isRest ? "faint" : ""}>{row.label}</span>
      ) : (
        <a href={href} title={row.fullName}>
          {row.label}
        </a>
      )}
      <span className="num">{count(row.launches)}×</span>
      <span className="num">{duration(row.total)}</span>
      <span className="num">{percent(row.share)}</span>
      <Bar share={row.share} />
    </li>
  );
}

function Callers({ session, view }: { session: string; view: CallerView }) {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? view.rows : view.rows.slice(0, SHOWN);
  const hidden = view.rows.length - shown.length;
  return (
    <>
      <ul className="callers">
        {shown.map((row) => (
          <Caller key={row.id} session={session} kind={view.kind} row={row} />
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
          <WithCode text={views[0]?.reason ?? ""} /> To record call stacks:{" "}
          <code>gpufl trace --stacks -- python train.py</code>. To name parts of the program:{" "}
          <code>with gpufl.Scope("step"):</code>
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
