import { SCRAPE_SECONDS } from './scenario.js';

/** One scrape of one target. `requests` is a counter, or the value of a gauge. */
export interface Scrape {
  readonly atMs: number;
  readonly cpuSeconds: number;
  readonly requests: number;
}

/** Scraped in addition to the pods: the exporter of the whole workload, its ingress or its queue. */
export const EXPORTER = '';

/** Longer than the longest range of any query, and than twice that for the time between samples. */
const KEPT_MS = 660_000;
/** Queries for targets of the past go back to an hour before a range. */
const SEEN_MS = 3_600_000 + KEPT_MS;
/** Old samples are dropped several at a time. */
const FORGOTTEN_AT_ONCE = 16;
/** The default `--query.lookback-delta` of Prometheus. */
const LOOKBACK_MS = 300_000;

/** Returns the time of the newest scrapes of a target that can be queried: later ones have not been received yet. */
export type VisibleUntil = (target: string) => number;

/** When a target had samples, in milliseconds. */
interface Life {
  readonly firstMs: number;
  lastMs: number;
}

/** The samples of one workload in one Prometheus: raw counters at scrape time. */
export class Scrapes {
  readonly #byTarget = new Map<string, Scrape[]>();
  readonly #lives = new Map<string, Life>();
  readonly #failuresMs = new Map<string, number[]>();
  /** The times of all scrapes of the server, which ended the series of targets that were gone or failed. */
  readonly #roundsMs: readonly number[];
  readonly #visibleUntil: VisibleUntil;

  constructor(roundsMs: readonly number[], visibleUntil: VisibleUntil) {
    this.#roundsMs = roundsMs;
    this.#visibleUntil = visibleUntil;
  }

  add(target: string, scrape: Scrape): void {
    push(this.#byTarget, target, scrape);
    const life = this.#lives.get(target);
    if (life === undefined) this.#lives.set(target, { firstMs: scrape.atMs, lastMs: scrape.atMs });
    else life.lastMs = scrape.atMs;
  }

  /** Notes that a scrape of a target failed. */
  addFailure(target: string, atMs: number): void {
    push(this.#failuresMs, target, atMs);
  }

  /** Copies the samples after `sinceMs` to a server that has the scrapes `roundsMs`. */
  since(sinceMs: number, roundsMs: readonly number[]): Scrapes {
    const young = new Scrapes(roundsMs, this.#visibleUntil);
    for (const [target, scrapes] of this.#byTarget)
      for (const scrape of scrapes.slice(startOf(scrapes, sinceMs))) young.add(target, scrape);
    return young;
  }

  /** Drops samples that no query uses any more. */
  forget(nowMs: number): void {
    for (const [target, scrapes] of this.#byTarget) {
      const old = startOf(scrapes, nowMs - KEPT_MS);
      if (old === scrapes.length) this.#byTarget.delete(target);
      else if (old >= FORGOTTEN_AT_ONCE) scrapes.splice(0, old);
    }
    for (const [target, { lastMs }] of this.#lives) if (lastMs < nowMs - SEEN_MS) this.#lives.delete(target);
    for (const [target, times] of this.#failuresMs)
      if ((times.at(-1) ?? 0) < nowMs - KEPT_MS) this.#failuresMs.delete(target);
  }

  /**
   * Returns the rate of each pod over a window that ends at `nowMs`, without pods that have fewer than two scrapes in
   * it.
   */
  rates(value: 'cpuSeconds' | 'requests', nowMs: number, windowSeconds: number): Map<string, number> {
    const rates = new Map<string, number>();
    for (const target of this.#byTarget.keys()) {
      if (target === EXPORTER) continue;
      const found = this.#rate(target, value, { nowMs, windowSeconds });
      if (found !== null) rates.set(target, found);
    }
    return rates;
  }

  /** Returns the rate of requests at the exporter; null without two scrapes. */
  exporterRate(nowMs: number, windowSeconds: number): number | null {
    return this.#rate(EXPORTER, 'requests', { nowMs, windowSeconds });
  }

  /** Returns the gauge of the exporter; null without a current sample. */
  exporterValue(nowMs: number): number | null {
    return this.current(EXPORTER, nowMs)?.requests ?? null;
  }

  /** Returns all targets that had samples in the last hour. */
  targets(): readonly string[] {
    return [...this.#lives.keys()];
  }

  /** Returns the targets of which a scrape failed within the range before `nowMs`; 0: the last one. */
  failing(nowMs: number, rangeSeconds: number): readonly string[] {
    return [...this.#failuresMs.keys()].filter((target) => {
      const untilMs = Math.min(nowMs, this.#visibleUntil(target));
      const sinceMs = rangeSeconds === 0 ? lastUntil(this.#roundsMs, untilMs) : nowMs - rangeSeconds * 1000;
      return this.#failuresMs.get(target)?.some((ms) => ms >= sinceMs && ms <= untilMs) === true;
    });
  }

  /** Returns the sample that an instant query at `atMs` finds: no later scrape of the server has ended the series. */
  current(target: string, atMs: number): Scrape | null {
    const untilMs = Math.min(atMs, this.#visibleUntil(target));
    const last = this.#within(target, Number.NEGATIVE_INFINITY, untilMs).at(-1);
    if (last === undefined || last.atMs < atMs - LOOKBACK_MS) return null;
    return lastUntil(this.#roundsMs, untilMs) > last.atMs ? null : last;
  }

  /** Returns the times of the samples within a range that ends at `atMs`. */
  sampleTimes(target: string, atMs: number, rangeSeconds: number): readonly number[] {
    return this.#within(target, atMs - rangeSeconds * 1000, atMs).map((scrape) => scrape.atMs);
  }

  /**
   * Returns which part of a range that ends at `nowMs` its samples do not cover, beyond the usual half of the time
   * between them; null without samples. What is before the first sample of a target's life is not missing. Of a gauge
   * (a range of 0), the newest sample counts, by its share of the lookback.
   */
  missingShare(target: string, nowMs: number, windowSeconds: number): number | null {
    const rangeMs = windowSeconds * 1000 || LOOKBACK_MS;
    const startMs = nowMs - rangeMs;
    const scrapes = this.#within(target, startMs, nowMs);
    const [first, last] = [scrapes[0], scrapes.at(-1)];
    if (first === undefined || last === undefined) return null;
    const usualMs = (SCRAPE_SECONDS * 1000) / 2;
    const isYoung = windowSeconds === 0 || (this.#lives.get(target)?.firstMs ?? nowMs) > startMs;
    const missingMs = [nowMs - last.atMs, isYoung ? 0 : first.atMs - startMs];
    return Math.max(...missingMs.map((ms) => Math.max(0, ms - usualMs))) / rangeMs;
  }

  /** Whether a target had samples at a multiple of the step within a range that ends at `atMs`. */
  wasSeen(target: string, atMs: number, range: { rangeSeconds: number; stepSeconds: number }): boolean {
    const life = this.#lives.get(target);
    if (life === undefined) return false;
    const stepMs = range.stepSeconds * 1000;
    const endMs = Math.floor(Math.min(atMs, life.lastMs, this.#visibleUntil(target)) / stepMs) * stepMs;
    return endMs >= Math.max(life.firstMs, atMs - range.rangeSeconds * 1000);
  }

  #within(target: string, afterMs: number, untilMs: number): readonly Scrape[] {
    const scrapes = this.#byTarget.get(target) ?? [];
    const end = startOf(scrapes, Math.min(untilMs, this.#visibleUntil(target)));
    return scrapes.slice(startOf(scrapes, afterMs), end);
  }

  #rate(
    target: string,
    value: 'cpuSeconds' | 'requests',
    { nowMs, windowSeconds }: { readonly nowMs: number; readonly windowSeconds: number },
  ): number | null {
    const scrapes = this.#within(target, nowMs - windowSeconds * 1000, nowMs);
    return rate(scrapes, value, { nowMs, windowSeconds });
  }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** Returns the index of the first scrape after `sinceMs`, searched from the end: windows end at the current time. */
function startOf(scrapes: readonly Scrape[], sinceMs: number): number {
  let start = scrapes.length;
  while (start > 0 && (scrapes[start - 1]?.atMs ?? 0) > sinceMs) start -= 1;
  return start;
}

function lastUntil(timesMs: readonly number[], untilMs: number): number {
  return timesMs.findLast((ms) => ms <= untilMs) ?? Number.NEGATIVE_INFINITY;
}

/**
 * Computes `rate` as Prometheus does: the increase corrected for resets, extrapolated to the ends of the window if the
 * samples are near them, but not beyond the zero that a counter began at; null with fewer than two scrapes. Source:
 * prometheus promql/functions.go, extrapolatedRate.
 */
function rate(
  scrapes: readonly Scrape[],
  value: 'cpuSeconds' | 'requests',
  { nowMs, windowSeconds }: { readonly nowMs: number; readonly windowSeconds: number },
): number | null {
  const count = scrapes.length;
  const first = scrapes[0];
  const last = scrapes.at(-1);
  if (count < 2 || first === undefined || last === undefined) return null;
  let increase = last[value] - first[value];
  let before = first[value];
  for (const scrape of scrapes) {
    const next = scrape[value];
    if (next < before) increase += before;
    before = next;
  }
  const sampled = (last.atMs - first.atMs) / 1000;
  const spacing = sampled / (count - 1);
  let toStart = (first.atMs - nowMs) / 1000 + windowSeconds;
  let toEnd = (nowMs - last.atMs) / 1000;
  if (toStart >= spacing * 1.1) toStart = spacing / 2;
  if (increase > 0) toStart = Math.min(toStart, sampled * (first[value] / increase));
  if (toEnd >= spacing * 1.1) toEnd = spacing / 2;
  return (increase * ((sampled + toStart + toEnd) / sampled)) / windowSeconds;
}
