// SPDX-License-Identifier: Apache-2.0
// What every page of a session has around it: where we are, whether the trace is complete, tabs.
import { lazy, type LazyExoticComponent, type ReactNode, Suspense, useEffect } from "react";
import { Link } from "wouter";
import { useApi } from "../api/hooks";
import { sessionPath } from "../api/paths";
import { useServerIsGone } from "../api/reach";
import type { LedgerAnswer, Session } from "../api/types";
import { navigate, useSegments } from "../base/address";
import { plural, wallTime } from "../base/format";
import { useKeys } from "../base/keys";
import { isGuest } from "../base/place";
import { ErrorBoundary } from "../widgets/error_boundary";
import { FindButton } from "../widgets/find_button";
import { Badge, type Tone } from "../widgets/parts";
import { Empty, Failed, Skeleton } from "../widgets/states";
import { TopBar } from "../widgets/top_bar";
import { PartStrip } from "./part_strip";
import { ShareSession } from "./sharing/share_button";
import "./session_frame.css";

export interface SessionPageProps {
  session: string;
}
type Page = LazyExoticComponent<(props: SessionPageProps) => ReactNode>;

interface Tab {
  path: string;
  title: string;
  key: string;
  page: Page;
}

const TABS: Tab[] = [
  { path: "", title: "Overview", key: "o", page: lazy(() => import("./overview/overview")) },
  {
    path: "timeline",
    title: "Timeline",
    key: "t",
    page: lazy(() => import("./timeline/timeline_page")),
  },
  { path: "kernels", title: "Kernels", key: "k", page: lazy(() => import("./kernels/kernels")) },
  {
    path: "iterations",
    title: "Iterations",
    key: "i",
    page: lazy(() => import("./iterations/iterations")),
  },
  { path: "scopes", title: "Scopes", key: "s", page: lazy(() => import("./scopes/scopes")) },
  { path: "sync", title: "Synchronization", key: "y", page: lazy(() => import("./sync/sync")) },
  { path: "memory", title: "Memory", key: "m", page: lazy(() => import("./memory/memory")) },
  { path: "health", title: "Health", key: "h", page: lazy(() => import("./health/health")) },
  {
    path: "counters",
    title: "Counters",
    key: "c",
    page: lazy(() => import("./counters/counters")),
  },
  { path: "log", title: "Log", key: "l", page: lazy(() => import("./log/log")) },
];
const KernelDetail = lazy(() => import("./kernels/kernel_detail"));

export function sessionHref(session: string, path = ""): string {
  return `#${sessionAddress(session, path)}`;
}

export function sessionAddress(session: string, path = ""): string {
  return `/s/${encodeURIComponent(session)}${path === "" ? "" : `/${path}`}`;
}

// Of all ranks of a launch.
export function runAddress(run: string): string {
  return `/runs/${encodeURIComponent(run)}`;
}

export function runHref(run: string): string {
  return `#${runAddress(run)}`;
}

const TONE: Record<Session["state"], Tone> = {
  live: "good",
  complete: "good",
  "not proven": "warn",
  losses: "warn",
  unclosed: "warn",
  damaged: "bad",
  unreadable: "bad",
};
const WORDS: Record<Session["state"], string> = {
  live: "Live",
  complete: "Complete",
  "not proven": "Not proven",
  losses: "Has losses",
  unclosed: "Cut off",
  damaged: "Damaged",
  unreadable: "Unreadable",
};

// The list knows what the manifest says; the ledger, once it is there, what was read.
export function StateBadge({
  session,
  ledger,
}: {
  session: Session;
  ledger?: LedgerAnswer | undefined;
}) {
  const kernels = session.kernels === null ? "" : ` · ${plural(session.kernels, "kernel")}`;
  const isWorse = session.state === "complete" && ledger?.ledger.verdict.startsWith("incomplete");
  const meaning = isWorse || session.state === "not proven" ? ledger?.ledger.meaning : undefined;
  const hint = meaning ?? session.problem;
  return (
    <Badge tone={isWorse ? "bad" : TONE[session.state]} {...(hint ? { hint } : {})}>
      {isWorse ? "Damaged" : WORDS[session.state]}
      {isWorse ? "" : kernels}
    </Badge>
  );
}

// The address may already be that of another page while this one is still drawn once more.
export function SessionFrame() {
  const [place, id = "", open = "", kernel = ""] = useSegments();
  return place === "s" ? <FrameOf id={id} open={open} kernel={kernel} /> : null;
}

function FrameOf({ id, open, kernel }: { id: string; open: string; kernel: string }) {
  const loaded = useApi(sessionPath(id, ""));
  const ledger = useApi(sessionPath(id, "/ledger"));
  useKeys(
    TABS.map(({ path, title, key }) => ({
      keys: `g ${key}`,
      what: `Go to ${title}`,
      run: () => navigate(sessionAddress(id, path)),
    })),
  );
  const session = loaded.data;
  const page = TABS.find(({ path }) => path === open)?.title;
  useEffect(() => {
    const what = session ? session.app || session.id : "";
    document.title = [page, what, "GPUFlight"].filter(Boolean).join(" · ");
  }, [session, page]);
  if (loaded.error) {
    return (
      <>
        <TopBar crumbs={[id]} />
        <main>
          <Failed problem={loaded.error} retry={loaded.retry} />
          <p className="session-none">{!isGuest && <a href="#/sessions">All sessions</a>}</p>
        </main>
      </>
    );
  }
  return (
    <>
      <TopBar
        crumbs={session ? [session.host, session.app, wallTime(session.start_wall_ns)] : [id]}
        badge={session && <StateBadge session={session} ledger={ledger.data} />}
        actions={
          <>
            <FindButton what="kernels, scopes, pages" />
            {!isGuest && (
              <a className="btn" href={`#/compare?a=${encodeURIComponent(id)}`}>
                Compare
              </a>
            )}
            <ShareSession session={id} />
          </>
        }
      />
      <nav className="tabs" aria-label="Pages of the session">
        {TABS.map(({ path, title }) => (
          <Link
            key={path}
            href={sessionAddress(id, path)}
            className={open === path ? "on" : ""}
            aria-current={open === path ? "page" : undefined}
          >
            {title}
          </Link>
        ))}
      </nav>
      <ServerGone />
      <main className={open === "timeline" ? "page wide" : "page"}>
        {open !== "timeline" && <PartStrip session={id} />}
        <ErrorBoundary what="page" of={`${id}/${open}/${kernel}`}>
          <Suspense fallback={<Skeleton rows={8} />}>
            <PageOf id={id} open={open} kernel={kernel} />
          </Suspense>
        </ErrorBoundary>
      </main>
    </>
  );
}

// What a page has keeps its place, and looks as if it were of now.
function ServerGone() {
  if (!useServerIsGone()) return null;
  return (
    <p className="server-gone" role="status">
      <b>The server does not answer.</b> Pages show what they had before. Start{" "}
      <code>gpufl serve</code> again: they go on by themselves.
    </p>
  );
}

function PageOf({ id, open, kernel }: { id: string; open: string; kernel: string }) {
  if (open === "kernels" && kernel !== "") return <KernelDetail session={id} kernel={kernel} />;
  const tab = TABS.find(({ path }) => path === open);
  if (tab) return <tab.page session={id} />;
  return (
    <Empty title="There is no such page">
      <a href={sessionHref(id)}>The session's overview</a>
    </Empty>
  );
}
