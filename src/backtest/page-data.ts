import type { Instant } from '../units/time.js';
import type { Figures } from './compare/figures.js';

/** The data of the page of `--html`. Times are seconds since `from`. */
export interface PageData {
  readonly version: string;
  /** Unix time in seconds at which the charts start. */
  readonly from: number;
  readonly seconds: number;
  /** The sentence from `verdictOf`; null: no variant has figures. */
  readonly verdict: string | null;
  readonly table: PageTable;
  /** Errors of variants, and notes about data that is omitted to limit the size of the page. */
  readonly notes: readonly string[];
  /** The lines of the recommendation; empty: none was requested. */
  readonly recommendation: readonly string[];
  readonly assumptions: readonly string[];
  /** The load divided by the capacity of a pod. */
  readonly demand: Band;
  readonly runs: readonly PageRun[];
  /** The distinct lines of all explanations. */
  readonly lines: readonly string[];
}

interface PageTable {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly string[] }[];
}

/** The lowest and the highest value in each interval; null: unknown. */
export interface Band {
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

/** A row of the table whose replicas are in the chart. */
export interface PageRun {
  readonly name: string;
  readonly replicas: readonly (readonly [at: number, count: number])[];
  readonly metrics: readonly PageMetric[];
  readonly changes: readonly PageChange[];
}

export interface PageMetric {
  readonly name: string;
  readonly isPercent: boolean;
  readonly target: number;
  readonly value: Band;
}

export interface PageChange {
  readonly at: number;
  readonly from: number;
  readonly to: number;
  /** The lines of the explanation as indexes into `lines`; empty: the explanation is omitted. */
  readonly lines: readonly number[];
}

/** Number of intervals in a chart: about one for each pixel of a wide screen. */
const BAND_PARTS = 1000;
const DIGITS = 4;

export interface BandBuilder {
  /** Adds a value that applies between two times. */
  readonly add: (value: number, from: Instant, to: Instant) => void;
  readonly finish: () => Band;
}

/**
 * Collects the lowest and the highest value of each interval. The size of the page thus does not depend on the number
 * of values.
 */
export function createBand(start: Instant, end: Instant, parts = BAND_PARTS): BandBuilder {
  const low = new Float64Array(parts).fill(Infinity);
  const high = new Float64Array(parts).fill(-Infinity);
  const partOf = (time: number): number =>
    Math.min(parts - 1, Math.max(0, Math.floor(((time - start) / (end - start)) * parts)));
  const written = (value: number): number | null =>
    Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : null;
  return {
    add: (value, from, to) => {
      if (!Number.isFinite(value)) return;
      // The end is exclusive: a value that applies until the start of an interval is not in that interval.
      const last = to > from ? partOf(to - 1) : partOf(from);
      for (let part = partOf(from); part <= last; part += 1) {
        low[part] = Math.min(low[part] ?? Infinity, value);
        high[part] = Math.max(high[part] ?? -Infinity, value);
      }
    },
    finish: () => ({ low: [...low].map(written), high: [...high].map(written) }),
  };
}

interface Judged {
  readonly name: string;
  /** Null: the variant could not run, or the load is unknown. */
  readonly figures: Figures | null;
}

interface Variant extends Judged {
  readonly figures: Figures;
}

/**
 * If theta_U differs by at most this many points, the risk counts as the same. A recommendation uses the same number.
 */
const SAME_RISK = 0.05;

/**
 * Returns a sentence that compares the first variant with a better one, if there is one: fewer pod-hours at about the
 * same theta_U. Null: no variant has figures.
 */
export function verdictOf(variants: readonly Judged[]): string | null {
  const [first, ...others] = variants.filter((one): one is Variant => one.figures !== null);
  if (first === undefined) return null;
  const facts = `needs ${hours(first)} pod-hours and has ${risk(first)}`;
  if (others.length === 0) return `${first.name} ${facts}.`;

  const most = first.figures.thetaU + SAME_RISK + Number.EPSILON;
  const cheaper = others
    .filter(({ figures }) => figures.podHours < first.figures.podHours)
    .sort((a, b) => a.figures.podHours - b.figures.podHours);
  const better = cheaper.find(({ figures }) => figures.thetaU <= most);
  if (better !== undefined)
    return `${better.name} is better than ${first.name}: it needs ${difference(better, first)} at about the same risk, and has ${bothRisks(better, first)}.`;

  const none = `No variant is better than ${first.name}:`;
  const [leastRisky] = cheaper.sort((a, b) => a.figures.thetaU - b.figures.thetaU);
  if (leastRisky !== undefined)
    return `${none} ${leastRisky.name} needs ${difference(leastRisky, first)}, but has ${bothRisks(leastRisky, first)}.`;
  const [safer] = others
    .filter(({ figures }) => figures.thetaU < first.figures.thetaU)
    .sort((a, b) => a.figures.podHours - b.figures.podHours);
  if (safer !== undefined)
    return `${none} ${safer.name} has ${bothRisks(safer, first)}, but needs ${difference(safer, first)}.`;
  return `${first.name} is the best: it ${facts}; each other variant needs more pod-hours or has a higher risk.`;
}

function risk({ figures: { tauU } }: Variant, digits = 1): string {
  return `too few pods in ${tauU.toFixed(digits)} % of the time`;
}

/** Prints a second decimal if two different values would look equal with one. */
function bothRisks(one: Variant, first: Variant): string {
  const [ofOne, ofFirst] = [one.figures.tauU, first.figures.tauU];
  const digits = ofOne.toFixed(1) === ofFirst.toFixed(1) && ofOne !== ofFirst ? 2 : 1;
  return `${risk(one, digits)}, ${first.name} in ${ofFirst.toFixed(digits)} %`;
}

function hours({ figures: { podHours } }: Variant): string {
  return podHours.toFixed(podHours > 0 && podHours < 1 ? 2 : 1);
}

function difference(one: Variant, first: Variant): string {
  const [now, before] = [one.figures.podHours, first.figures.podHours];
  const percent = before === 0 ? '' : `${((100 * Math.abs(now - before)) / before).toFixed(1)} % `;
  return `${percent}${now < before ? 'fewer' : 'more'} pod-hours (${hours(one)}, not ${hours(first)})`;
}
