// SPDX-License-Identifier: Apache-2.0
import { apiUrl } from "../../api/client";
import { sessionPath } from "../../api/paths";
import { EXPORT_FORMATS } from "../../base/export_formats";
import { Panel } from "../../widgets/parts";

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
      {EXPORT_FORMATS.map(({ format, title, what }) => (
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
