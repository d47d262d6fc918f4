// SPDX-License-Identifier: Apache-2.0
"use strict";

const part = (id) => document.getElementById(id);
const fragment = new URLSearchParams(location.hash.slice(1));
const invitation = fragment.get("invitation");
const login = fragment.get("login"); // why one failed; "out": somebody has just left a workspace's page
const hasLeft = login === "out";
const shared = fragment.get("shared"); // the token of a link to a session; empty: the link has ended
// It counts once, and is nobody else's; a token is nothing for a history; and nobody wants to see a
// failure again.
if (invitation || login || shared !== null) history.replaceState(null, "", location.pathname);
// Where this page is open already, a link changes no more than the fragment.
addEventListener("hashchange", () => location.reload());

// Why a login by way of the provider failed.
const failures = new Map([
  ["refused", "The provider has not confirmed who you are, or you have stopped it. Try again."],
  ["stale", "This login was not begun in this browser, or more than ten minutes ago. Try again, at this address."],
  ["unusable", "The provider's answer could not be used. The server's log says why; ask whoever runs it."],
  ["unavailable", "The provider does not answer now. Try again in a while."],
  ["busy", "Too many logins at once. Try again in a minute."],
  ["unknown", "The provider knows you, but no user here is linked to your account. Ask an admin of this server to add you."],
  ["unverified", "The provider has not verified your e-mail address. Confirm it there, then try again."],
  ["disabled", "Your account on this server is disabled. Ask an admin of this server."],
]);
let provider = null;

// The page that somebody without a login was led away from: kept while a provider's pages are shown.
const kWanted = "wanted";
const keepWanted = () => {
  const workspace = new URLSearchParams(location.search).get("workspace");
  if (workspace) sessionStorage.setItem(kWanted, JSON.stringify([workspace, location.hash]));
};
const takeWanted = ({ workspaces }) => {
  const [workspace, hash] = JSON.parse(sessionStorage.getItem(kWanted) || "[]");
  sessionStorage.removeItem(kWanted);
  if (!workspaces.some(({ name }) => name === workspace)) return null;
  return "w/" + encodeURIComponent(workspace) + "/" + hash;
};

const show = (id) => {
  for (const name of ["login", "invitation", "account"]) part(name).hidden = name !== id;
  part("provider").hidden = id !== "login" || !provider;
  part("sign-out").hidden = true;
};

const ask = async (path, body) => {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const reply = await fetch("api/v1/" + path, options);
  const text = await reply.text();
  const answer = text ? JSON.parse(text) : {};
  if (!reply.ok) {
    const error = new Error(answer.detail || answer.title || reply.statusText);
    throw Object.assign(error, { status: reply.status });
  }
  return answer;
};

const showAccount = (me) => {
  const wanted = takeWanted(me);
  if (wanted) return location.replace(wanted);
  part("user").textContent = me.user;
  part("workspaces").replaceChildren(...me.workspaces.map(({ name, role }) => {
    const link = document.createElement("a");
    link.href = "w/" + encodeURIComponent(name) + "/";
    link.textContent = name;
    const line = document.createElement("li");
    line.append(link, " (" + role + ")");
    return line;
  }));
  show("account");
};

const onSubmit = (id, path, more) => part(id).addEventListener("submit", async (event) => {
  event.preventDefault();
  part("message").textContent = "";
  try {
    showAccount(await ask(path, { ...Object.fromEntries(new FormData(event.target)), ...more }));
  } catch (error) {
    part("message").textContent = error.message;
  }
});

onSubmit("login", "login", {});
onSubmit("invitation", "invitation", { token: invitation });
part("logout").addEventListener("click", async () => {
  part("message").textContent = "";
  try {
    await ask("logout", {});
  } catch (error) {
    // 401: the login had ended already.
    if (error.status !== 401) {
      part("message").textContent = error.message;
      return;
    }
  }
  await showLoggedOut();
});

const showLogin = async () => {
  ({ provider } = await ask("login"));
  if (provider) {
    part("provider-name").textContent = part("sign-out-name").textContent = provider.name;
    if (provider.sign_out) part("sign-out").querySelector("a").href = provider.sign_out;
  }
  show("login");
};

// One may still be logged in at the provider.
const showLoggedOut = async () => {
  await showLogin();
  part("sign-out").hidden = !provider?.sign_out;
};

keepWanted();
if (login && !hasLeft) {
  part("message").textContent = failures.get(login) || "The login failed. Try again.";
}
if (invitation) {
  show("invitation");
} else if (shared !== null) {
  ask("shared", { token: shared }).then(
    ({ page }) => location.replace(page),
    (error) => {
      part("message").textContent = "This link does not count: " + error.message;
    },
  );
} else {
  ask("me").then(showAccount, hasLeft ? showLoggedOut : showLogin);
}
