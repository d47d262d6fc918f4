// SPDX-License-Identifier: Apache-2.0
import { Fragment, type ReactNode } from "react";
import { AccountMenu } from "./account_menu";
import "./top_bar.css";

// Links are routes here: it is the focus that moves.
function skip() {
  const main = document.querySelector("main");
  if (!main) return;
  main.tabIndex = -1;
  main.focus();
}

// The last crumb is where we are.
export function TopBar({
  crumbs,
  badge,
  actions,
}: {
  crumbs: string[];
  badge?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <header className="top-bar">
      <button className="btn skip" onClick={skip}>
        Skip to the content
      </button>
      <a className="logo" href="#/">
        gpu<i>flight</i>
      </a>
      <h1 className="crumbs">
        {crumbs.filter(Boolean).map((crumb, i, all) =>
          i === all.length - 1 ? (
            <b key={i}>{crumb}</b>
          ) : (
            <Fragment key={i}>
              <span>{crumb}</span>
              <i> / </i>
            </Fragment>
          ),
        )}
      </h1>
      {badge}
      <span className="grow" />
      {actions}
      <AccountMenu />
    </header>
  );
}
