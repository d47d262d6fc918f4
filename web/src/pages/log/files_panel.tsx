// SPDX-License-Identifier: Apache-2.0
import { apiUrl } from "../../api/client";
import { useApi } from "../../api/hooks";
import { sessionPath } from "../../api/paths";
import type { Window as LogFile } from "../../api/types";
import { bytes, count, duration, plural } from "../../base/format";
import { useMedia } from "../../base/media";
import { Panel } from "../../widgets/parts";
import { Empty, Ready } from "../../widgets/states";
import { type Column, DataTable } from "../../widgets/table";

const NARROW = "(max-width: 1000px)";
const WIDE_ONLY = ["raw_bytes", "lines", "hash"];

function optional(value: number | null | undefined, format: (value: number) => string) {
  return value === null || value === undefined ? (
    <span title="Known when the file is sealed">–</span>
  ) : (
    format(value)
  );
}

// A file that is gone has a place in the log, but no name.
function nameOf({ name, channel, number }: LogFile): string {
  return name ?? `${channel}.${number}`;
}

function Download({ session, file }: { session: string; file: LogFile }) {
  const { name, state } = file;
  if (name === null) {
    return (
      <span className="mono faint" title={`The file is ${state}`}>
        {nameOf(file)}
      </span>
    );
  }
  return (
    <a
      className="mono"
      href={apiUrl(sessionPath(session, "/windows/{}", name))}
      download={name}
      title={`Download ${name}`}
    >
      {name}
    </a>
  );
}

export function FilesPanel({ session }: { session: string }) {
  const files = useApi(sessionPath(session, "/windows"));
  const number = (
    key: "bytes" | "raw_bytes" | "lines" | "rows" | "first_ns" | "last_ns",
    title: string,
    format: (value: number) => string,
    hint?: string,
  ): Column<LogFile> => ({
    key,
    title,
    value: (file) => file[key] ?? null,
    cell: (file) => optional(file[key], format),
    isNumber: true,
    width: "minmax(92px, 1fr)",
    ...(hint === undefined ? {} : { hint }),
  });
  const isNarrow = useMedia(NARROW);
  const all: Column<LogFile>[] = [
    {
      key: "name",
      title: "File",
      value: nameOf,
      cell: (file) => <Download session={session} file={file} />,
      width: "minmax(160px, 2fr)",
    },
    {
      key: "state",
      title: "State",
      // What nobody closed is not live once the session has ended.
      value: ({ state }) =>
        state === "live" && files.data?.is_live === false ? "never sealed" : state,
      width: "minmax(90px, 1fr)",
    },
    number("bytes", "Size", bytes),
    number("raw_bytes", "Unpacked", bytes),
    number("rows", "Rows", count),
    number("lines", "Lines", count),
    number("first_ns", "From", duration, "Its first moment, after the session's start"),
    number("last_ns", "To", duration, "Its last moment, after the session's start"),
    {
      key: "hash",
      title: "Hash",
      value: ({ hash }) => hash ?? null,
      cell: ({ hash }) =>
        hash === undefined ? (
          "–"
        ) : (
          <span className="mono" title={hash}>
            {hash.replace(/^\w+:/, "")}
          </span>
        ),
      width: "minmax(140px, 2fr)",
      hint: "xxh64 of the file; gpufl verify checks it",
    },
  ];
  const columns = isNarrow ? all.filter(({ key }) => !WIDE_ONLY.includes(key)) : all;
  return (
    <Ready of={files} rows={4}>
      {({ windows, is_live }) => (
        <Panel
          title="Files"
          note={`${plural(windows.length, "file")}${is_live ? ", growing" : ""}; choose one to download it`}
        >
          {windows.length === 0 ? (
            <Empty title="The session has no files that can be read" />
          ) : (
            <DataTable name="files" rows={windows} columns={columns} rowKey={nameOf} maxRows={12} />
          )}
        </Panel>
      )}
    </Ready>
  );
}
