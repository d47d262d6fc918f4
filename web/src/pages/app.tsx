// SPDX-License-Identifier: Apache-2.0
// Which page is shown. Pages other than the first are loaded when they are opened.
import { lazy, Suspense } from "react";
import { Redirect, Route, Router, Switch } from "wouter";
import { useAddress, useAddressSearch } from "../base/address";
import { ErrorBoundary } from "../widgets/error_boundary";
import { Empty, Skeleton } from "../widgets/states";
import { CommandPalette } from "../widgets/palette";
import { KeyHelp } from "../widgets/key_help";
import { SessionFrame } from "./session_frame";

const Sessions = lazy(() => import("./sessions/sessions"));
const Run = lazy(() => import("./run/run"));
const Fleet = lazy(() => import("./fleet/fleet"));
const Compare = lazy(() => import("./compare/compare"));

export function App() {
  const [address] = useAddress();
  return (
    <Router hook={useAddress} searchHook={useAddressSearch}>
      <ErrorBoundary what="page" of={address}>
        <Suspense fallback={<Skeleton />}>
          <Switch>
            <Route path="/">
              <Redirect to="/sessions" replace />
            </Route>
            <Route path="/sessions" component={Sessions} />
            <Route path="/runs/:run" component={Run} />
            <Route path="/fleet" component={Fleet} />
            <Route path="/compare" component={Compare} />
            <Route path="/s/:session/*?">
              <SessionFrame />
            </Route>
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
