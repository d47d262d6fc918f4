// SPDX-License-Identifier: Apache-2.0
"use strict";

const part = (id) => document.getElementById(id);
const invitation = new URLSearchParams(location.hash.slice(1)).get("invitation");
// It counts once, and is nobody else's.
if (invitation) history.replaceState(null, "", location.pathname);

const show = (id) => {
  for (const name of ["login", "invitation", "account"]) part(name).hidden = name !== id;
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
  if (!reply.ok) throw new Error(answer.detail || answer.title || reply.statusText);
  return answer;
};

const showAccount = (me) => {
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
  await ask("logout", {});
  show("login");
});

if (invitation) {
  show("invitation");
} else {
  ask("me").then(showAccount, () => show("login"));
}
