// SPDX-License-Identifier: Apache-2.0
// Two timelines that move together: what is moved by hand leads, the other follows.
import { isSameView, shifted, type View } from "./align";

export interface Followed {
  // What it has told, which is a moment behind what it shows.
  readonly state: { readonly view: View };
  subscribe: (listener: () => void) => () => void;
  setView: (view: View) => void;
}

// A view that comes back from the follower is an echo and moves nothing. `sent`: what each was told.
export function follow(
  leader: Followed,
  follower: Followed,
  by: number,
  sent: Map<Followed, View>,
): () => void {
  let last = leader.state.view;
  return leader.subscribe(() => {
    const { view } = leader.state;
    if (view === last || isSameView(view, last)) return;
    last = view;
    const echo = sent.get(leader);
    if (echo && isSameView(echo, view)) return;
    const target = shifted(view, by);
    sent.set(follower, target);
    follower.setView(target);
  });
}
