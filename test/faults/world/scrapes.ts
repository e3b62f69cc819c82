/** One scrape of one pod. */
export interface Scrape {
  readonly atMs: number;
  readonly cpuSeconds: number;
  readonly requests: number;
}

/** Scraped beside the pods: what a workload was asked for in all, by those who stand before it. */
export const INGRESS = '';

/** Longer than the longest range of any query. */
const KEPT_MS = 330_000;

/** What one Prometheus has of one workload: raw counters, as they were when it looked. */
export class Scrapes {
  readonly #byPod = new Map<string, Scrape[]>();

  add(pod: string, scrape: Scrape): void {
    const scrapes = this.#byPod.get(pod);
    if (scrapes === undefined) this.#byPod.set(pod, [scrape]);
    else scrapes.push(scrape);
  }

  /** Drops what no query reaches any more. */
  forget(nowMs: number): void {
    for (const [pod, scrapes] of this.#byPod) {
      let old = 0;
      while (old < scrapes.length && (scrapes[old]?.atMs ?? 0) < nowMs - KEPT_MS) old += 1;
      if (old > 0) scrapes.splice(0, old);
      if (scrapes.length === 0) this.#byPod.delete(pod);
    }
  }

  /** The rate of each pod over a window that ends at `nowMs`; pods with fewer than two scrapes in it have none. */
  rates(value: 'cpuSeconds' | 'requests', nowMs: number, windowSeconds: number): Map<string, number> {
    const rates = new Map<string, number>();
    for (const [pod, scrapes] of this.#byPod) {
      if (pod === INGRESS) continue;
      const first = scrapes.findIndex(({ atMs }) => atMs > nowMs - windowSeconds * 1000);
      if (first === -1 || scrapes.length - first < 2) continue;
      rates.set(pod, rate(scrapes.slice(first), value, { nowMs, windowSeconds }));
    }
    return rates;
  }

  /** The rate of requests at the ingress; null without two scrapes. */
  ingressRate(nowMs: number, windowSeconds: number): number | null {
    const scrapes = this.#byPod.get(INGRESS) ?? [];
    const within = scrapes.filter(({ atMs }) => atMs > nowMs - windowSeconds * 1000);
    return within.length < 2 ? null : rate(within, 'requests', { nowMs, windowSeconds });
  }
}

/**
 * `rate` as Prometheus has it: the increase with resets made good, stretched to the ends of the window where the samples
 * come near them, but not beyond the zero that a counter began at. Source: prometheus promql/functions.go, extrapolatedRate.
 */
function rate(
  scrapes: readonly Scrape[],
  value: 'cpuSeconds' | 'requests',
  { nowMs, windowSeconds }: { readonly nowMs: number; readonly windowSeconds: number },
): number {
  const first = scrapes[0];
  const last = scrapes.at(-1);
  if (first === undefined || last === undefined) return 0;
  let increase = last[value] - first[value];
  let before = first[value];
  for (const scrape of scrapes) {
    if (scrape[value] < before) increase += before;
    before = scrape[value];
  }
  const sampled = (last.atMs - first.atMs) / 1000;
  const spacing = sampled / (scrapes.length - 1);
  let toStart = (first.atMs - nowMs) / 1000 + windowSeconds;
  let toEnd = (nowMs - last.atMs) / 1000;
  if (toStart >= spacing * 1.1) toStart = spacing / 2;
  if (increase > 0) toStart = Math.min(toStart, sampled * (first[value] / increase));
  if (toEnd >= spacing * 1.1) toEnd = spacing / 2;
  return (increase * ((sampled + toStart + toEnd) / sampled)) / windowSeconds;
}
