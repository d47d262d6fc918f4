// SPDX-License-Identifier: Apache-2.0
// What a session is exported as.

export interface ExportFormat {
  format: string;
  title: string;
  // As an action of the palette.
  action: string;
  what: string;
}

export const EXPORT_FORMATS: ExportFormat[] = [
  {
    format: "perfetto",
    title: "Perfetto",
    action: "Export for Perfetto",
    what: "A trace for ui.perfetto.dev and trace_processor",
  },
  {
    format: "chrome",
    title: "Chrome trace",
    action: "Export as a Chrome trace",
    what: "JSON that chrome://tracing and others read",
  },
  {
    format: "speedscope",
    title: "speedscope",
    action: "Export for speedscope",
    what: "Flame graphs for speedscope.app",
  },
  {
    format: "pprof",
    title: "pprof",
    action: "Export for pprof",
    what: "A profile for go tool pprof",
  },
  {
    format: "csv",
    title: "CSV",
    action: "Export as CSV tables",
    what: "A tar archive with one table for each kind of row",
  },
  {
    format: "json",
    title: "JSON",
    action: "Export as JSON",
    what: "All rows, one in each line",
  },
];
