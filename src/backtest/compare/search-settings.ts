import type { Scaler } from '../../scaler/spec.js';
import type { Threshold } from './threshold.js';
import { isCareful, isConfirmed, type Comparison, savingOf } from './judge-settings.js';
import type { Probe, ProbeFigures } from './probes.js';
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

export interface FoundSettings {
  /** Fields that differ from the document. */
  readonly change: readonly Assignment[];
  readonly scaler: Scaler;
  /** Whether the document misses the conditions. The change may then need more pod-hours than the document. */
  readonly mayCostMore: boolean;
  /** Whether only the tolerance of scale-downs differs. `CAREFUL_SLACK` applies to such a change. */
  readonly isCareful: boolean;
}

/** A change that saves less is not worth a risk. */
const LEAST_SAVING = 0.01;
/** Changes of the tolerance of scale-downs that save less are noise. */
const LEAST_CAREFUL_SAVING = 0.001;
/**
 * Share of the pod-hours that each changed field has to save. Changes in many fields overfit the load.
 */
const FIELD_COST = 0.01;
const MOST_STEPS = 4;

/**
 * Returns the settings with the fewest pod-hours that are confirmed on each probe. Each changed field counts as 1 % of
 * the pod-hours. If no settings are confirmed, returns a smaller tolerance of scale-downs that is about as good as the
 * document, or the reason why there is none. Tries changes of one or two fields first, then steps to the best neighbor.
 * The same load gives the same settings, after at most some hundred runs.
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
  // A schedule has its own minReplicas.
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
  /** The figures of the document, one entry per probe. */
  readonly original: readonly ProbeFigures[];
  readonly isMissed: boolean;
}

interface Candidate {
  readonly settings: TunedSettings;
  readonly change: readonly Assignment[];
  readonly scaler: Scaler;
}

interface Scored extends Candidate {
  /** Share of the pod-hours saved, minus the cost of the changed fields. */
  readonly score: number;
}

interface Probed {
  readonly candidate: Candidate;
  readonly comparisons: readonly Comparison[];
}

/** Returns the best of these settings that are confirmed and better than `before`; null if there is none. */
async function bestOf(
  search: Search,
  settings: readonly TunedSettings[],
  before: Scored | null,
): Promise<Scored | null> {
  const { present, isMissed } = search;
  const left = await keepOnAll(search, settings, (comparison) => isConfirmed(comparison, search));
  let best: Scored | null = null;
  for (const { candidate, comparisons } of left) {
    const saving = savingOf(comparisons);
    if (!isMissed && saving < LEAST_SAVING) continue;
    const score = saving - FIELD_COST * countChanges(candidate.settings, present);
    if (score > (best?.score ?? before?.score ?? -Infinity)) best = { ...candidate, score };
  }
  return best;
}

/** Considers only the load itself, not the reversed one: these changes have little risk. */
async function bestCareful(search: Search): Promise<Candidate | null> {
  const settings = carefulSettings(search.present);
  const onLoad = { ...search, probes: search.probes.slice(0, 1) };
  const left = await keepOnAll(onLoad, settings, (comparison) => isCareful(comparison, search.conditions));
  let best: { readonly candidate: Candidate; readonly saving: number } | null = null;
  for (const { candidate, comparisons } of left) {
    const saving = savingOf(comparisons);
    if (saving >= LEAST_CAREFUL_SAVING && saving > (best?.saving ?? 0)) best = { candidate, saving };
  }
  return best?.candidate ?? null;
}

/** Returns the settings that pass on all probes. Settings that fail on one probe are not tried on the next. */
async function keepOnAll(
  search: Search,
  settings: readonly TunedSettings[],
  passes: (comparison: Comparison) => boolean,
): Promise<readonly Probed[]> {
  let left: readonly Probed[] = settings
    .flatMap((one) => candidateOf(search, one))
    .map((candidate) => ({ candidate, comparisons: [] }));
  for (const [number, probe] of search.probes.entries()) {
    const original = search.original[number];
    const results = await probe.run(left.map(({ candidate: { scaler } }) => ({ name: '', scaler })));
    left = left.flatMap(({ candidate, comparisons }, index): readonly Probed[] => {
      const changed = results[index] ?? null;
      if (changed === null || original === undefined || !passes({ changed, original })) return [];
      return [{ candidate, comparisons: [...comparisons, { changed, original }] }];
    });
  }
  return left;
}

function candidateOf({ scaler, index }: Search, settings: TunedSettings): readonly Candidate[] {
  const change = changedFields(scaler, index, settings);
  if (change.length === 0) return [];
  const variant = changedVariant(scaler, change);
  return 'error' in variant ? [] : [{ settings, change, scaler: variant.scaler }];
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
    ? 'no change meets the condition with a margin on the first half and needs fewer pod-hours'
    : `the document does not meet ${missed.text} on the first half, and no other setting does: look at minReplicas, maxReplicas and the start of a pod`;
}

/** Returns the index of the first CPU metric, otherwise 0. */
function loadMetricIndex({ spec }: Scaler): number {
  const cpu = spec.metrics.findIndex((metric) => metric.name === 'cpu');
  return Math.max(0, cpu);
}
