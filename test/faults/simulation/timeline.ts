interface Entry {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
  isCanceled: boolean;
}

const STEPS_A_TURN = 64;

/**
 * Simulated time: a queue of due callbacks, and a loop that runs the promises of each callback before the next one is
 * called, as an event loop does. Nothing here waits for real time.
 */
export class Timeline {
  #nowMs = 0;
  #order = 0;
  readonly #heap: Entry[] = [];

  /** Milliseconds of true time since the start of the simulation. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Calls `run` once, `ms` from now, in whole milliseconds like real timers; the returned function cancels it. */
  after(ms: number, run: () => void): () => void {
    const dueMs = this.#nowMs + Math.max(0, Math.ceil(ms));
    const entry: Entry = { dueMs, order: (this.#order += 1), run, isCanceled: false };
    this.#push(entry);
    return () => {
      entry.isCanceled = true;
    };
  }

  /** Calls `run` every `ms`, for the first time at `firstMs` from now. */
  every(ms: number, run: () => void, firstMs = ms): void {
    const again = (): void => {
      run();
      this.after(ms, again);
    };
    this.after(firstMs, again);
  }

  /** Runs until `endMs`, including all promises that are due by then. */
  async runUntil(endMs: number): Promise<void> {
    await turned();
    let steps = 0;
    for (let next = this.#heap[0]; next !== undefined && next.dueMs <= endMs; next = this.#heap[0]) {
      this.#pop();
      if (next.isCanceled) continue;
      this.#nowMs = next.dueMs;
      next.run();
      steps += 1;
      await (steps % STEPS_A_TURN === 0 ? turned() : settled());
    }
    await turned();
    this.#nowMs = endMs;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex];
      if (parent === undefined || !isBefore(entry, parent)) break;
      heap[index] = parent;
      index = parentIndex;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      const isRight = right !== undefined && left !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (child === undefined || !isBefore(child, last)) break;
      heap[index] = child;
      index = 2 * index + (isRight ? 2 : 1);
    }
    heap[index] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}

/** Resolves after every promise that could continue: Node runs its ticks when no microtask is left. */
function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** Resolves after a whole turn of the event loop, which costs ten times as much: in it Node reports rejections. */
function turned(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
