// SPDX-License-Identifier: Apache-2.0
// Which page is shown. Pages other than the first are loaded when they are opened.
import { lazy, Suspense } from "react";
import { Redirect, Route, Router, Switch } from "wouter";
import { useShared } from "../api/shares";
import { useAddress, useAddressSearch } from "../base/address";
import { isGuest } from "../base/place";
import { ErrorBoundary } from "../widgets/error_boundary";
import { Empty, Ready, Skeleton } from "../widgets/states";
import { CommandPalette } from "../widgets/palette";
import { KeyHelp } from "../widgets/key_help";
import { sessionAddress, SessionFrame } from "./session_frame";

// With names of kernels, which may be of several lines: a pattern's "*" ends with the first.
const OF_SESSION = /^\/s\/[^/][^]*$/;

const Sessions = lazy(() => import("./sessions/sessions"));
const Run = lazy(() => import("./run/run"));
const Fleet = lazy(() => import("./fleet/fleet"));
const Compare = lazy(() => import("./compare/compare"));

// Where a guest's link leads.
function Shared() {
  return (
    <Ready of={useShared()}>
      {({ session }) => <Redirect to={sessionAddress(session)} replace />}
    </Ready>
  );
}

export function App() {
  const [address] = useAddress();
  return (
    <Router hook={useAddress} searchHook={useAddressSearch}>
      <ErrorBoundary what="page" of={address}>
        <Suspense fallback={<Skeleton />}>
          <Switch>
            <Route path="/">{isGuest ? <Shared /> : <Redirect to="/sessions" replace />}</Route>
            <Route path={OF_SESSION}>
              <SessionFrame />
            </Route>
            {isGuest && (
              <Route>
                <Redirect to="/" replace />
              </Route>
            )}
            <Route path="/sessions" component={Sessions} />
            <Route path="/runs/:run" component={Run} />
            <Route path="/fleet" component={Fleet} />
            <Route path="/compare" component={Compare} />
            <Route>
              <Empty title="There is no such page">
                <a href="#/sessions">All sessions</a>
              </Empty>
            </Route>
          </Switch>
        </Suspense>
      </ErrorBoundary>
      <ErrorBoundary what="dialog" of={address}>
        <CommandPalette />
      </ErrorBoundary>
      <ErrorBoundary what="dialog" of={address}>
        <KeyHelp />
      </ErrorBoundary>
    </Router>
  );
}
