/** One scrape of one pod. */
export interface Scrape {
  readonly atMs: number;
  readonly cpuSeconds: number;
  readonly requests: number;
}

/** Scraped in addition to the pods: the total requests of a workload at its ingress. */
export const INGRESS = '';

/** Longer than the longest range of any query. */
const KEPT_MS = 330_000;
/** Old samples are dropped several at a time. */
const FORGOTTEN_AT_ONCE = 16;

/** The samples of one workload in one Prometheus: raw counters at scrape time. */
export class Scrapes {
  readonly #byPod = new Map<string, Scrape[]>();

  add(pod: string, scrape: Scrape): void {
    const scrapes = this.#byPod.get(pod);
    if (scrapes === undefined) this.#byPod.set(pod, [scrape]);
    else scrapes.push(scrape);
  }

  /** Returns the samples after `sinceMs`. */
  since(sinceMs: number): Scrapes {
    const young = new Scrapes();
    for (const [pod, scrapes] of this.#byPod)
      for (const scrape of scrapes.slice(startOf(scrapes, sinceMs))) young.add(pod, scrape);
    return young;
  }

  /** Drops samples that no query uses any more. */
  forget(nowMs: number): void {
    for (const [pod, scrapes] of this.#byPod) {
      const old = startOf(scrapes, nowMs - KEPT_MS);
      if (old === scrapes.length) this.#byPod.delete(pod);
      else if (old >= FORGOTTEN_AT_ONCE) scrapes.splice(0, old);
    }
  }

  /**
   * Returns the rate of each pod over a window that ends at `nowMs`, without pods that have fewer than two scrapes in
   * it.
   */
  rates(value: 'cpuSeconds' | 'requests', nowMs: number, windowSeconds: number): Map<string, number> {
    const rates = new Map<string, number>();
    for (const [pod, scrapes] of this.#byPod) {
      if (pod === INGRESS) continue;
      const found = rate(scrapes, value, { nowMs, windowSeconds });
      if (found !== null) rates.set(pod, found);
    }
    return rates;
  }

  /** Returns the rate of requests at the ingress; null without two scrapes. */
  ingressRate(nowMs: number, windowSeconds: number): number | null {
    return rate(this.#byPod.get(INGRESS) ?? [], 'requests', { nowMs, windowSeconds });
  }
}

/** Returns the index of the first scrape after `sinceMs`, searched from the end: windows end at the current time. */
function startOf(scrapes: readonly Scrape[], sinceMs: number): number {
  let start = scrapes.length;
  while (start > 0 && (scrapes[start - 1]?.atMs ?? 0) > sinceMs) start -= 1;
  return start;
}

/**
 * Computes `rate` as Prometheus does: the increase corrected for resets, extrapolated to the ends of the window if the
 * samples are near them, but not beyond the zero that a counter began at; null with fewer than two scrapes in the
 * window. Source: prometheus promql/functions.go, extrapolatedRate.
 */
function rate(
  scrapes: readonly Scrape[],
  value: 'cpuSeconds' | 'requests',
  { nowMs, windowSeconds }: { readonly nowMs: number; readonly windowSeconds: number },
): number | null {
  const start = startOf(scrapes, nowMs - windowSeconds * 1000);
  const count = scrapes.length - start;
  const first = scrapes[start];
  const last = scrapes.at(-1);
  if (count < 2 || first === undefined || last === undefined) return null;
  let increase = last[value] - first[value];
  let before = first[value];
  for (let index = start + 1; index < scrapes.length; index += 1) {
    const next = scrapes[index]?.[value] ?? before;
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
