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
/** What is too old goes several at a time. */
const FORGOTTEN_AT_ONCE = 16;

/** What one Prometheus has of one workload: raw counters, as they were when it looked. */
export class Scrapes {
  readonly #byPod = new Map<string, Scrape[]>();

  add(pod: string, scrape: Scrape): void {
    const scrapes = this.#byPod.get(pod);
    if (scrapes === undefined) this.#byPod.set(pod, [scrape]);
    else scrapes.push(scrape);
  }

  /** What is younger than `sinceMs`. */
  since(sinceMs: number): Scrapes {
    const young = new Scrapes();
    for (const [pod, scrapes] of this.#byPod)
      for (const scrape of scrapes.slice(startOf(scrapes, sinceMs))) young.add(pod, scrape);
    return young;
  }

  /** Drops what no query reaches any more. */
  forget(nowMs: number): void {
    for (const [pod, scrapes] of this.#byPod) {
      const old = startOf(scrapes, nowMs - KEPT_MS);
      if (old === scrapes.length) this.#byPod.delete(pod);
      else if (old >= FORGOTTEN_AT_ONCE) scrapes.splice(0, old);
    }
  }

  /** The rate of each pod over a window that ends at `nowMs`; pods with fewer than two scrapes in it have none. */
  rates(value: 'cpuSeconds' | 'requests', nowMs: number, windowSeconds: number): Map<string, number> {
    const rates = new Map<string, number>();
    for (const [pod, scrapes] of this.#byPod) {
      if (pod === INGRESS) continue;
      const found = rate(scrapes, value, { nowMs, windowSeconds });
      if (found !== null) rates.set(pod, found);
    }
    return rates;
  }

  /** The rate of requests at the ingress; null without two scrapes. */
  ingressRate(nowMs: number, windowSeconds: number): number | null {
    return rate(this.#byPod.get(INGRESS) ?? [], 'requests', { nowMs, windowSeconds });
  }
}

/** The place of the first scrape after `sinceMs`, searched from the end: windows end at the present. */
function startOf(scrapes: readonly Scrape[], sinceMs: number): number {
  let start = scrapes.length;
  while (start > 0 && (scrapes[start - 1]?.atMs ?? 0) > sinceMs) start -= 1;
  return start;
}

/**
 * `rate` as Prometheus has it: the increase with resets made good, stretched to the ends of the window where the samples
 * come near them, but not beyond the zero that a counter began at; null with fewer than two scrapes in the window.
 * Source: prometheus promql/functions.go, extrapolatedRate.
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
