// SPDX-License-Identifier: Apache-2.0
// Paths of the API, which know the types of their answers: a page that reads what a route does not
// answer does not compile.
import type { Report, SectionName } from "./types";
import type { Answers } from "./wire";

// "Of" is what it answers; nothing of it is there at run time.
export type Path<Of> = string & { readonly answers: Of };
type OfSession<Route> = Route extends `/sessions/{}${infer Rest}` ? Rest : never;
export type SessionRoute = OfSession<keyof Answers>;

// "/runs/{}" with its ids.
export function pathOf<Route extends keyof Answers>(
  route: Route,
  ...ids: string[]
): Path<Answers[Route]> {
  let next = 0;
  return route.replaceAll("{}", () => encodeURIComponent(ids[next++] ?? "")) as Path<
    Answers[Route]
  >;
}

// A path of one session: sessionPath(id, "/events/{}", event).
export function sessionPath<Rest extends SessionRoute>(
  session: string,
  rest: Rest,
  ...ids: string[]
): Path<Answers[`/sessions/{}${Rest}`]> {
  return pathOf(`/sessions/{}${rest}` as `/sessions/{}${Rest}` & keyof Answers, session, ...ids);
}

// A member of the session's JSON report.
export function sectionPath<Name extends SectionName>(
  session: string,
  section: Name,
): Path<Report[Name]> {
  return pathOf("/sessions/{}/sections/{}", session, section) as string as Path<Report[Name]>;
}
