// SPDX-License-Identifier: Apache-2.0
import { apiUrl } from "../../api/client";
import { sessionPath } from "../../api/paths";
import { Panel } from "../../widgets/parts";

const FORMATS: [string, string, string][] = [
  ["perfetto", "Perfetto", "A trace for ui.perfetto.dev and trace_processor"],
  ["chrome", "Chrome trace", "JSON that chrome://tracing and others read"],
  ["speedscope", "speedscope", "Flame graphs for speedscope.app"],
  ["pprof", "pprof", "A profile for go tool pprof"],
  ["csv", "CSV", "A tar archive with one table for each kind of row"],
  ["json", "JSON", "All rows, one in each line"],
];

export function ExportPanel({
  session,
  openPerfetto,
}: {
  session: string;
  openPerfetto: () => void;
}) {
  return (
    <Panel className="log-export">
      <b>Export</b>
      {FORMATS.map(([format, title, what]) => (
        <a
          key={format}
          className="btn"
          href={apiUrl(sessionPath(session, "/export"), { format })}
          download=""
          title={what}
        >
          {title}
        </a>
      ))}
      <span className="grow" />
      <button className="btn primary" onClick={openPerfetto}>
        Open in Perfetto …
      </button>
    </Panel>
  );
}
