// SPDX-License-Identifier: Apache-2.0
// In a workspace: who has logged in, and the way out of it.
import { type KeyboardEvent, useRef, useState } from "react";
import { logOut, roleOf, useMe } from "../api/account";
import { LOGGED_OUT_PAGE, SERVER_PAGE, workspace } from "../base/place";
import "./account_menu.css";

export function AccountMenu() {
  const me = useMe().data;
  const [isOpen, setIsOpen] = useState(false);
  const [failure, setFailure] = useState("");
  const button = useRef<HTMLButtonElement>(null);
  if (!me) return null;
  const role = roleOf(me);
  const leave = () =>
    logOut().then(
      () => window.location.assign(LOGGED_OUT_PAGE),
      (error: Error) => setFailure(error.message),
    );
  const closeByKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isOpen) return;
    event.stopPropagation();
    setIsOpen(false);
    // What had the keyboard goes with the menu.
    button.current?.focus();
  };
  return (
    <div
      className="account"
      onKeyDown={closeByKey}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setIsOpen(false);
      }}
    >
      <button
        ref={button}
        className="btn"
        aria-expanded={isOpen}
        aria-label={`Account of ${me.user}`}
        onClick={() => setIsOpen(!isOpen)}
      >
        {me.user}
      </button>
      {isOpen && (
        // Takes the focus of clicks on its text, which would otherwise leave the menu.
        <div className="account-menu" tabIndex={-1}>
          <p>
            <b>{me.user}</b>
            <span className="dim">
              {role} in {workspace}
            </span>
          </p>
          <a href={SERVER_PAGE}>All workspaces</a>
          <button className="btn" onClick={leave}>
            Log out
          </button>
          {failure !== "" && <p role="alert">{failure}</p>}
        </div>
      )}
    </div>
  );
}
