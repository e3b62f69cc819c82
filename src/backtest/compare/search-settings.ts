import type { Scaler } from '../../scaler/spec.js';
import type { Threshold } from './threshold.js';
import { type Probe, type ProbeFigures, meanWithoutSmallest } from './probes.js';
import {
  carefulSettings,
  firstSettings,
  neighbours,
  changedFields,
  countChanges,
  presentSettings,
  type TunedSettings,
} from './recommend-candidates.js';
import { type Assignment, changedVariant } from './sweep.js';
import type { Figures } from './figures.js';

export interface FoundSettings {
  /** The fields that differ from the document, with their new values. */
  readonly change: readonly Assignment[];
  readonly scaler: Scaler;
  /** Whether the document misses a condition. The change may then need more pod-hours than the document. */
  readonly mayCostMore: boolean;
  /** Whether the change affects only the tolerance of scale-downs and was accepted with `CAREFUL_SLACK`. */
  readonly isCareful: boolean;
}

/** The smallest saving that is worth the risk of a change, as a share of the pod-hours. */
const LEAST_SAVING = 0.01;
/**
 * The smallest saving of a change that only affects the tolerance of scale-downs and has little risk. A smaller saving
 * is noise.
 */
const LEAST_CAREFUL_SAVING = 0.001;
/** Share of the pod-hours that each changed field must save, because changes of many fields overfit the load. */
const FIELD_COST = 0.01;
const MOST_STEPS = 4;

/**
 * Returns the confirmed settings (`isConfirmed` on each probe) with the largest saving of pod-hours, minus 1 % for each
 * changed field. If there are none and the document meets all conditions, returns a smaller tolerance of scale-downs
 * that is not noticeably worse (`isCareful`). Otherwise, returns the reason.
 *
 * The search first changes one or two fields, then moves to the best neighbor repeatedly, with some hundred runs at
 * most. The result depends only on the arguments.
 */
export async function findSettings(
  scaler: Scaler,
  conditions: readonly Threshold[],
  probes: readonly Probe[],
): Promise<FoundSettings | string> {
  const index = loadMetricIndex(scaler);
  const metric = scaler.spec.metrics[index];
  if (metric === undefined) return 'the document has no metric';
  const present = presentSettings(scaler, metric);
  const original = await figuresOn(probes, scaler);
  const first = original?.[0];
  if (original === null || first === undefined) return 'the load of the first half is unknown';
  const missed = conditions.find(({ isMetBy }) => !isMetBy(first.whole, first.whole));
  const isMissed = missed !== undefined;
  const search: Search = { scaler, index, present, conditions, probes, original, isMissed };
  // With schedules, a higher minReplicas is not tried, because each schedule has its own minReplicas.
  const mayRaiseMinimum = isMissed && scaler.spec.schedules.length === 0;
  const bounds = { metric, mayRaiseMinimum, maxReplicas: scaler.spec.maxReplicas };
  let best = await bestOf(search, firstSettings(present, bounds), null);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const better = await bestOf(search, neighbours(best?.settings ?? present, bounds), best);
    if (better === null) break;
    best = better;
  }
  const found = best ?? (isMissed ? null : await bestCareful(search));
  if (found === null) return whyNone(missed);
  return { change: found.change, scaler: found.scaler, mayCostMore: isMissed, isCareful: best === null };
}

interface Search {
  readonly scaler: Scaler;
  readonly index: number;
  readonly present: TunedSettings;
  readonly conditions: readonly Threshold[];
  readonly probes: readonly Probe[];
  /** The figures of the document on each probe. */
  readonly original: readonly ProbeFigures[];
  readonly isMissed: boolean;
}

interface Candidate {
  readonly settings: TunedSettings;
  readonly change: readonly Assignment[];
  readonly scaler: Scaler;
  /** The comparisons with the document on the probes that the candidate has passed. */
  readonly comparisons: readonly Comparison[];
}

interface Scored extends Candidate {
  /** The share of the pod-hours that is saved, minus `FIELD_COST` for each changed field. */
  readonly score: number;
}

/** Returns the confirmed settings with the highest score; null: none has a higher score than `before`. */
async function bestOf(
  search: Search,
  settings: readonly TunedSettings[],
  before: Scored | null,
): Promise<Scored | null> {
  const { present, isMissed } = search;
  const left = await keepOnAll(search, settings, (comparison) => isConfirmed(comparison, search));
  let best: Scored | null = null;
  for (const candidate of left) {
    const saving = savingOf(candidate.comparisons);
    if (!isMissed && saving < LEAST_SAVING) continue;
    const score = saving - FIELD_COST * countChanges(candidate.settings, present);
    if (score > (best?.score ?? before?.score ?? -Infinity)) best = { ...candidate, score };
  }
  return best;
}

/** Tries smaller tolerances of scale-downs. The first probe suffices, because smaller tolerances have little risk. */
async function bestCareful(search: Search): Promise<Candidate | null> {
  const settings = carefulSettings(search.present);
  const onLoad = { ...search, probes: search.probes.slice(0, 1) };
  const left = await keepOnAll(onLoad, settings, (comparison) => isCareful(comparison, search.conditions));
  const [best] = left.toSorted((a, b) => savingOf(b.comparisons) - savingOf(a.comparisons));
  return best !== undefined && savingOf(best.comparisons) >= LEAST_CAREFUL_SAVING ? best : null;
}

/** Returns the settings that pass on all probes. Settings that fail on a probe are not run on the remaining probes. */
async function keepOnAll(
  search: Search,
  settings: readonly TunedSettings[],
  passes: (comparison: Comparison) => boolean,
): Promise<readonly Candidate[]> {
  let left = settings.flatMap((one) => candidateOf(search, one));
  for (const [number, probe] of search.probes.entries()) {
    const original = search.original[number];
    const results = await probe.run(left.map(({ scaler }) => ({ name: '', scaler })));
    left = left.flatMap((candidate, index) => {
      const changed = results[index] ?? null;
      if (changed === null || original === undefined || !passes({ changed, original })) return [];
      return [{ ...candidate, comparisons: [...candidate.comparisons, { changed, original }] }];
    });
  }
  return left;
}

function candidateOf({ scaler, index }: Search, settings: TunedSettings): readonly Candidate[] {
  const change = changedFields(scaler, index, settings);
  if (change.length === 0) return [];
  const variant = changedVariant(scaler, change);
  return 'error' in variant ? [] : [{ settings, change, scaler: variant.scaler, comparisons: [] }];
}

async function figuresOn(probes: readonly Probe[], scaler: Scaler): Promise<readonly ProbeFigures[] | null> {
  const all: ProbeFigures[] = [];
  for (const probe of probes) {
    const [changed] = await probe.run([{ name: '', scaler }]);
    if (changed === undefined || changed === null) return null;
    all.push(changed);
  }
  return all;
}

function whyNone(missed: Threshold | undefined): string {
  return missed === undefined
    ? 'no change needs fewer pod-hours on the first half of the load and also meets the condition with a margin'
    : `the document does not meet ${missed.text} on the first half of the load, and no other setting does: check minReplicas, maxReplicas and the pod start time`;
}

/** Returns the index of the first CPU metric; 0: there is none. */
function loadMetricIndex({ spec }: Scaler): number {
  const cpu = spec.metrics.findIndex((metric) => metric.name === 'cpu');
  return Math.max(0, cpu);
}

/** The figures of a candidate (`changed`) and of the document (`original`) on the same probe. */
export interface Comparison {
  readonly changed: ProbeFigures;
  readonly original: ProbeFigures;
}

export interface Aim {
  readonly conditions: readonly Threshold[];
  /** Whether the document itself misses a condition. A change may then need more pod-hours than the document. */
  readonly isMissed: boolean;
}

/**
 * A candidate must meet a condition with this margin. If it barely meets the condition on one half of the load, it
 * rarely meets the condition on the other half.
 */
const MARGIN = 0.9;
/** How much worse a figure may be, in its own unit, if a change affects only the tolerance of scale-downs. */
export const CAREFUL_SLACK = 0.05;

/**
 * Returns whether a change is confirmed on a probe. The change must meet the conditions: absolute conditions with a
 * margin, relative conditions on the whole load and on average over the windows. Unless the document misses a
 * condition, the change must also need no more pod-hours than the document, on the whole load and on average over the
 * windows. Averages omit the sixth of the windows in which the change does best.
 */
export function isConfirmed({ changed, original }: Comparison, { conditions, isMissed }: Aim): boolean {
  const isMet = conditions.every((condition) =>
    condition.isRelative
      ? condition.isMetBy(changed.whole, original.whole) &&
        meanByWindow({ changed, original }, condition.excess) <= 0
      : condition.isMetWithin(changed.whole, MARGIN),
  );
  if (!isMet || isMissed) return isMet;
  const moreHours = (one: Figures, other: Figures): number => one.podHours - other.podHours;
  return (
    changed.whole.podHours <= original.whole.podHours && meanByWindow({ changed, original }, moreHours) <= 0
  );
}

/**
 * Returns whether a change is about as good as the document on a probe. Call it only for changes that cannot delay a
 * scale-up.
 */
export function isCareful({ changed, original }: Comparison, conditions: readonly Threshold[]): boolean {
  return conditions.every(({ isRelative, isMetNear, isMetWithin }) =>
    isRelative ? isMetNear(changed.whole, original.whole, CAREFUL_SLACK) : isMetWithin(changed.whole, MARGIN),
  );
}

/**
 * Returns the share of the pod-hours that a change saves, as a mean over the probes; negative: the change needs more
 * pod-hours.
 */
export function savingOf(comparisons: readonly Comparison[]): number {
  const shares = comparisons.map(
    ({ changed, original }) => 1 - changed.whole.podHours / original.whole.podHours,
  );
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

/**
 * Returns the mean of a comparison over the windows without the best sixth. Windows in which the load is unknown do not
 * count.
 */
function meanByWindow(
  { changed, original }: Comparison,
  compare: (changed: Figures, original: Figures) => number,
): number {
  const values = changed.windows.flatMap((figures, number) => {
    const reference = original.windows[number] ?? null;
    return figures === null || reference === null ? [] : [compare(figures, reference)];
  });
  return meanWithoutSmallest(values);
}
