// SPDX-License-Identifier: Apache-2.0
// Questions about what is selected: details of an event, sums of a range, where a name is next. A
// later question of a kind ends the one before.
import { NO_SEARCH, type Store } from "./state";
import {
  type Direction,
  type EventRef,
  Pending,
  type RowRange,
  type TimelineSource,
} from "./types";

const SUMS_AFTER_MS = 150;
const AGAIN_MS = 500;

class Latest {
  private abort = new AbortController();
  private timer = 0;

  stop(): void {
    this.abort.abort();
    clearTimeout(this.timer);
  }

  // Asks again while the answer is being computed.
  run<Answer>(
    ask: (signal: AbortSignal) => Promise<Answer>,
    done: (answer: Answer) => void,
    failed: (problem: unknown) => void,
    afterMs = 0,
  ): void {
    this.stop();
    const abort = new AbortController();
    this.abort = abort;
    const start = () => {
      ask(abort.signal).then(
        (answer) => {
          if (!abort.signal.aborted) done(answer);
        },
        (problem: unknown) => {
          if (abort.signal.aborted) return;
          if (problem instanceof Pending) {
            this.timer = window.setTimeout(start, problem.waitMs ?? AGAIN_MS);
          } else {
            failed(problem);
          }
        },
      );
    };
    if (afterMs > 0) this.timer = window.setTimeout(start, afterMs);
    else start();
  }
}

export class Asks {
  private readonly detail = new Latest();
  private readonly sums = new Latest();
  private readonly finding = new Latest();
  private found: EventRef | null = null;

  constructor(
    private readonly source: TimelineSource,
    private readonly store: Store,
  ) {}

  stop(): void {
    for (const latest of [this.detail, this.sums, this.finding]) latest.stop();
  }

  select(event: EventRef | null): void {
    this.detail.stop();
    this.store.set({ selected: event, detail: null, detailProblem: null });
    if (event === null || event.event === null) return;
    this.detail.run(
      (signal) => this.source.detail(event, signal),
      (detail) => this.store.set({ detail }),
      (detailProblem) => this.store.set({ detailProblem }),
    );
  }

  find(id: string, track: string | null, at: number | null, done: (event: EventRef) => void): void {
    this.detail.run(
      (signal) => this.source.find(id, track, at, signal),
      done,
      (detailProblem) => this.store.set({ selected: null, detail: null, detailProblem }),
    );
  }

  // False: the source cannot tell.
  begins(row: RowRange, choose: (events: EventRef[]) => void): boolean {
    const { source } = this;
    if (!source.begins) return false;
    this.finding.run(
      (signal) => source.begins!(row, signal),
      choose,
      (detailProblem) => this.store.set({ detailProblem }),
    );
    return true;
  }

  setRange(range: readonly [number, number] | null): void {
    this.sums.stop();
    this.store.set({ range, sums: null, sumsProblem: null });
    if (!range) return;
    this.sums.run(
      (signal) => this.source.sums(range[0], range[1], signal),
      (sums) => this.store.set({ sums }),
      (sumsProblem) => this.store.set({ sumsProblem }),
      SUMS_AFTER_MS,
    );
  }

  // `after`: where to look from; it starts again at the other end where there is nothing more.
  // `found`: null only counts.
  search(
    text: string,
    after: number | null,
    direction: Direction,
    found: ((event: EventRef) => void) | null,
  ): void {
    if (text === "") {
      this.finding.stop();
      this.store.set({ search: NO_SEARCH });
      return;
    }
    const before = this.store.state.search;
    const last = before.text === text && this.isAtFound() ? before.at : null;
    const matches = before.text === text ? before.matches : null;
    this.store.set({ search: { text, isBusy: true, matches, at: last, problem: null } });
    this.finding.run(
      async (signal) => {
        const result = await this.source.search(text, after, direction, signal);
        const isOver = result.found === null && result.matches > 0 && after !== null;
        if (!isOver) return { ...result, isFromEnd: after === null };
        return { ...(await this.source.search(text, null, direction, signal)), isFromEnd: true };
      },
      (result) => {
        const { matches } = result;
        const at =
          found && result.found ? numberOf(matches, last, result.isFromEnd, direction) : null;
        this.store.set({ search: { text, isBusy: false, matches, at, problem: null } });
        if (!found || !result.found) return;
        found(result.found);
        this.found = this.store.state.selected;
      },
      (problem) =>
        this.store.set({ search: { text, isBusy: false, matches: null, at: null, problem } }),
    );
  }

  // What was found last is still what is selected.
  private isAtFound(): boolean {
    return this.found !== null && this.found === this.store.state.selected;
  }
}

// Which of the matches was found; null: the one before is not known either.
function numberOf(
  matches: number,
  last: number | null,
  isFromEnd: boolean,
  direction: Direction,
): number | null {
  if (isFromEnd) return direction === "forward" ? 1 : matches;
  if (last === null) return null;
  const at = last + (direction === "forward" ? 1 : -1);
  return at >= 1 && at <= matches ? at : null;
}
