// SPDX-License-Identifier: Apache-2.0
// Where the session's figures come from: its files, what was recorded how, and whether all of it is
// there. From here it also goes into other tools.
import { useApi, useSection } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import { useMayHaveFiles } from "../../api/shares";
import type { Capability, Ledger, LedgerAnswer, LogEvent } from "../../api/types";
import { useViewParameter } from "../../base/address";
import { isGuest } from "../../base/place";
import { bytesQuantity, count, duration, timeQuantity, wallTime } from "../../base/format";
import { Badge, Chip, Facts, Panel, type Tone } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { type Column, DataTable } from "../../widgets/table";
import { timelineAround } from "../cursor";
import { importedFrom, toolName } from "../imported";
import { sessionHref, type SessionPageProps } from "../session_frame";
import { featureName } from "../overview/not_recorded";
import { ExportPanel } from "./export_panel";
import { DeviceFacts, SessionFacts } from "./facts_panels";
import { FilesPanel } from "./files_panel";
import { eventText, kindRows, type KindRows, ledgerNumbers } from "./ledger";
import { NotesPanel } from "./notes_panel";
import { PerfettoDialog } from "./perfetto_dialog";
import "./log.css";

export default function Log({ session: id }: SessionPageProps) {
  const [dialog, setDialog] = useViewParameter("open");
  const mayHaveFiles = useMayHaveFiles();
  const session = useApi(sessionPath(id, "")).data;
  const ledger = useApi(sessionPath(id, "/ledger"));
  return (
    <>
      <Ready of={ledger} rows={3}>
        {(answer) => <LogFacts answer={answer} size={session?.bytes} />}
      </Ready>
      {mayHaveFiles && <ExportPanel session={id} openPerfetto={() => setDialog("perfetto")} />}
      <div className="log-columns">
        <div>
          {mayHaveFiles && <FilesPanel session={id} />}
          <Events session={id} />
          <Ready of={ledger} rows={4}>
            {(answer) => (
              <>
                <Capabilities of={answer.capabilities} />
                <Numbers ledger={answer.ledger} />
              </>
            )}
          </Ready>
        </div>
        <div>
          {!isGuest && <NotesPanel session={id} />}
          <Ready of={ledger} rows={6}>
            {(answer) => <SessionFacts session={id} facts={answer.session} />}
          </Ready>
          <DeviceFacts session={id} />
        </div>
      </div>
      {dialog === "perfetto" && mayHaveFiles && (
        <PerfettoDialog
          session={id}
          title={`${session?.app || id}, ${wallTime(session?.start_wall_ns ?? null)}`}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  );
}

const VERDICT: Record<string, Tone> = { complete: "good", incomplete: "bad" };

function LogFacts({ answer, size }: { answer: LedgerAnswer; size: number | undefined }) {
  const { ledger, session } = answer;
  const tool = importedFrom(answer.capabilities);
  const length = timeQuantity(session.duration_ns);
  const onDisk = bytesQuantity(size);
  const rows = Object.values(ledger.rows_read).reduce((sum, n) => sum + n, 0);
  const isBound = session.duration_is_lower_bound;
  return (
    <>
      <Facts
        of={[
          {
            label: "Verdict",
            value: (
              <span className={`log-verdict ${VERDICT[ledger.verdict] ?? "warn"}`}>
                {ledger.verdict}
              </span>
            ),
            hint: ledger.meaning,
          },
          {
            label: "Duration",
            value: isBound ? `≥ ${length.value}` : length.value,
            unit: length.unit,
            hint: isBound ? "The log has no end: this is the last sign of life" : undefined,
          },
          { label: "On disk", value: onDisk.value, unit: onDisk.unit },
          { label: "Rows read", value: count(rows) },
          { label: "Problems", value: count(ledger.problem_count) },
          tool === null
            ? { label: "Recorded by", value: session.gpufl_version, unit: "gpufl" }
            : {
                label: "Imported from",
                value: toolName(tool),
                unit: `by gpufl ${session.gpufl_version}`,
              },
        ]}
      />
      {(ledger.verdict !== "complete" || ledger.problem_count > 0) && (
        <Panel title="Is everything there?" note={ledger.meaning}>
          <ul className="log-problems">
            {ledger.problems.map(({ kind, file, line, text }, i) => (
              <li key={i}>
                <Badge tone="bad">{kind.replaceAll("_", " ")}</Badge>{" "}
                <Chip>{line > 0 ? `${file}:${line}` : file}</Chip> {text}
              </li>
            ))}
            {ledger.problem_count > ledger.problems.length && (
              <li className="faint">
                and {count(ledger.problem_count - ledger.problems.length)} more: gpufl verify lists
                all
              </li>
            )}
            {ledger.problems.length === 0 && <li>Every file that is there can be read.</li>}
          </ul>
        </Panel>
      )}
    </>
  );
}

function Events({ session }: { session: string }) {
  const events = useSection(session, "events");
  const warnings = useSection(session, "option_warnings").data ?? [];
  const columns: Column<LogEvent>[] = [
    {
      key: "time",
      title: "After",
      value: ({ time }) => time,
      cell: ({ time }) => (
        <a href={sessionHref(session, timelineAround(time, 1e6))}>{duration(time)}</a>
      ),
      isNumber: true,
      width: "100px",
    },
    {
      key: "name",
      title: "Event",
      value: ({ name }) => name.replaceAll("_", " "),
      width: "minmax(120px, 1fr)",
    },
    {
      key: "text",
      title: "What it says",
      value: eventText,
      cell: (event) => <span title={eventText(event)}>{eventText(event)}</span>,
      width: "minmax(200px, 3fr)",
    },
  ];
  return (
    <Panel title="Events" note="what the recorder and the driver had to say">
      <Ready of={events} rows={3}>
        {(list) => {
          const all = [...warnings, ...list];
          return all.length === 0 ? (
            <Empty title="Nothing out of the ordinary happened" />
          ) : (
            <DataTable
              name="events"
              rows={all}
              columns={columns}
              rowKey={(_, i) => String(i)}
              sortedBy="time"
              isAscending
              maxRows={10}
            />
          );
        }}
      </Ready>
    </Panel>
  );
}

// Nobody asked another tool's trace for anything.
function gotText({ feature, asked, got, as_asked }: Capability, isImported: boolean): string {
  if (isImported) return feature === "recording" ? toolName(got) : got;
  return as_asked ? got : `${asked} → ${got}`;
}

function Capabilities({ of }: { of: Capability[] }) {
  if (of.length === 0) return null;
  const tool = importedFrom(of);
  return (
    <Panel title={tool === null ? "Asked for, and got" : "What the import has"}>
      <ul className="log-list">
        {of.map((one, i) => (
          <li key={i}>
            <b>{featureName(one.feature)}</b>
            <span>{gotText(one, tool !== null)}</span>
            {(tool === null || !one.as_asked) && (
              <Badge tone={one.as_asked ? "good" : tool === null ? "warn" : "plain"}>
                {one.as_asked ? "as asked" : one.reason.replaceAll("_", " ") || "not as asked"}
              </Badge>
            )}
            {[one.backend, one.detail, one.hint].filter(Boolean).length > 0 && (
              <small>{[one.backend, one.detail, one.hint].filter(Boolean).join(" · ")}</small>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const KIND_COLUMNS: Column<KindRows>[] = [
  { key: "kind", title: "Kind", value: ({ kind }) => kind.replaceAll("_", " "), width: "2fr" },
  kindColumn("written", "Written", "As the ledger counts"),
  kindColumn("read", "Read", "Of the files that are here"),
  kindColumn("dropped", "Dropped", "Never written, for want of space or time"),
];

function kindColumn(
  key: "written" | "read" | "dropped",
  title: string,
  hint: string,
): Column<KindRows> {
  return {
    key,
    title,
    hint,
    value: (row) => row[key],
    cell: (row) =>
      row[key] === null ? <span title="The log has no ledger">–</span> : count(row[key]),
    isNumber: true,
  };
}

function Numbers({ ledger }: { ledger: Ledger }) {
  return (
    <>
      <Panel title="Rows by kind">
        <DataTable
          name="rows"
          rows={kindRows(ledger)}
          columns={KIND_COLUMNS}
          rowKey={({ kind }) => kind}
          sortedBy="read"
          maxRows={14}
        />
      </Panel>
      <Panel title="Ledger" note="what the recorder counted, without zeros">
        {ledger.numbers === null ? (
          <Empty title="The log has no ledger">
            The program ended before it could be written, so nobody knows what is missing.
          </Empty>
        ) : (
          <dl className="log-numbers">
            {ledgerNumbers(ledger.numbers).map(({ name, text, value, isLoss }) => (
              <div key={name} className={isLoss && value > 0 ? "loss" : ""}>
                <dt>{name}</dt>
                <dd className="num">{text}</dd>
              </div>
            ))}
          </dl>
        )}
      </Panel>
    </>
  );
}
