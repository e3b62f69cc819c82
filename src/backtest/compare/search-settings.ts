import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import type { Figures } from '../figures/figures.js';
import type { Threshold } from '../figures/threshold.js';
import type { Probe } from './probes.js';
import { coarseSettings, neighbours } from './recommend-candidates.js';
import { type Assignment, changedVariant } from './sweep.js';
import { changedFields, presentSettings, type TunedSettings } from './tuned-settings.js';

export interface FoundSettings {
  /** Fields that differ from the document. */
  readonly change: readonly Assignment[];
  readonly scaler: Scaler;
  /** The document misses the conditions, so that the change may need more pod-hours than it. */
  readonly mayCostMore: boolean;
}

/** A candidate that meets a condition only just on one half rarely meets it on the other. */
const MARGIN = 0.9;
/** How much a figure may be worse than that of the document on one probe, while it is not worse as a mean. */
const SLACK = 0.05;
/** Fewer pod-hours by less than this share are noise. */
const LEAST_SAVING = 0.001;
/** Candidates whose other probes run at once; and how many at most. */
const BATCH = 16;
const MOST_PROBED = 80;
const MOST_STEPS = 4;

/**
 * Returns the settings with the fewest pod-hours, as a mean of the probes, that meet the conditions on all of them; or
 * why there are none. A coarse grid is followed by steps to the best neighbour. The same load gives the same settings,
 * after at most some hundred runs.
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
  const own = await figuresOn(probes, scaler);
  if (own === null) return 'the load of the first half is unknown';
  const isMissed = !meetsAll(own, own, conditions);
  const search: Search = { scaler, index, metric, conditions, probes, own, isMissed };
  const limit = isMissed ? Infinity : meanHours(own);
  let best = await bestOf(search, coarseSettings(present, metric), limit);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const around = neighbours(best?.settings ?? present, metric);
    const better = await bestOf(search, around, best?.podHours ?? limit);
    if (better === null) break;
    best = better;
  }
  if (best === null) return whyNone(own[0], conditions);
  const { change, scaler: changed } = best;
  return { change, scaler: changed, mayCostMore: isMissed };
}

interface Search {
  readonly scaler: Scaler;
  readonly index: number;
  readonly metric: MetricSpec;
  readonly conditions: readonly Threshold[];
  readonly probes: readonly Probe[];
  /** The figures of the document, by probe. */
  readonly own: readonly Figures[];
  readonly isMissed: boolean;
}

interface Candidate {
  readonly settings: TunedSettings;
  readonly change: readonly Assignment[];
  readonly scaler: Scaler;
}

interface Scored extends Candidate {
  /** Mean of the probes. */
  readonly podHours: number;
}

/** Returns the best of these settings that has fewer pod-hours than `limit`; null if there is none. */
async function bestOf(
  search: Search,
  settings: readonly TunedSettings[],
  limit: number,
): Promise<Scored | null> {
  const candidates = settings.flatMap((one) => candidateOf(search, one));
  const [firstProbe] = search.probes;
  const [ownFirst] = search.own;
  if (firstProbe === undefined || ownFirst === undefined) return null;
  const first = await firstProbe.run(candidates.map(({ scaler }) => ({ name: '', scaler })));
  // What is no candidate on the load itself is not tried on the others.
  const promising = candidates
    .flatMap((candidate, number) => {
      const figures = first[number] ?? null;
      const isMet = figures !== null && mayMeet(figures, ownFirst, search.conditions);
      return isMet ? [{ candidate, figures }] : [];
    })
    .toSorted((a, b) => a.figures.podHours - b.figures.podHours)
    .slice(0, MOST_PROBED);
  let best: Scored | null = null;
  for (let from = 0; from < promising.length; from += BATCH) {
    const batch = promising.slice(from, from + BATCH);
    const scored = await scoreBatch(search, batch);
    for (const one of scored) if (one.podHours < (best?.podHours ?? limit * (1 - LEAST_SAVING))) best = one;
    // The later ones need more on the load itself.
    if (best !== null) return best;
  }
  return best;
}

async function scoreBatch(
  { probes, own, conditions }: Search,
  batch: readonly { readonly candidate: Candidate; readonly figures: Figures }[],
): Promise<readonly Scored[]> {
  const variants = batch.map(({ candidate: { scaler } }) => ({ name: '', scaler }));
  const others: (readonly (Figures | null)[])[] = [];
  for (const probe of probes.slice(1)) others.push(await probe.run(variants));
  return batch.flatMap(({ candidate, figures }, number): readonly Scored[] => {
    const all = [figures, ...others.map((results) => results[number] ?? null)].filter((one) => one !== null);
    if (all.length < probes.length || !meetsAll(all, own, conditions)) return [];
    return [{ ...candidate, podHours: meanHours(all) }];
  });
}

function candidateOf({ scaler, index }: Search, settings: TunedSettings): readonly Candidate[] {
  const change = changedFields(scaler, index, settings);
  if (change.length === 0) return [];
  const variant = changedVariant(scaler, change);
  return 'error' in variant ? [] : [{ settings, change, scaler: variant.scaler }];
}

async function figuresOn(probes: readonly Probe[], scaler: Scaler): Promise<readonly Figures[] | null> {
  const all: Figures[] = [];
  for (const probe of probes) {
    const [figures] = await probe.run([{ name: '', scaler }]);
    if (figures === undefined || figures === null) return null;
    all.push(figures);
  }
  return all;
}

/**
 * Conditions with a limit hold with a margin on the load itself and, as a mean, on all probes. Those relative to the
 * document hold as a mean and, with a slack, on each probe.
 */
function meetsAll(
  figures: readonly Figures[],
  own: readonly Figures[],
  conditions: readonly Threshold[],
): boolean {
  const isOwn = figures === own;
  const [first] = figures;
  if (first === undefined) return false;
  const mean = meanFigures(figures);
  return conditions.every(({ isRelative, isMetBy, isMetNear, isMetWithin }) => {
    if (isRelative) {
      const references = own.slice(0, figures.length);
      return (
        isMetBy(mean, meanFigures(references)) &&
        references.every((reference, number) => isMetNear(figures[number] ?? reference, reference, SLACK))
      );
    }
    return isOwn ? isMetBy(first) : isMetWithin(first, MARGIN) && isMetWithin(mean, MARGIN);
  });
}

function mayMeet(figures: Figures, own: Figures, conditions: readonly Threshold[]): boolean {
  return conditions.every(({ isRelative, isMetNear, isMetWithin }) =>
    isRelative ? isMetNear(figures, own, SLACK) : isMetWithin(figures, MARGIN),
  );
}

function meanFigures(figures: readonly Figures[]): Figures {
  const [first] = figures;
  if (first === undefined) throw new Error('a mean needs figures');
  const mean = (read: (one: Figures) => number): number =>
    figures.reduce((sum, one) => sum + read(one), 0) / figures.length;
  return {
    thetaU: mean(({ thetaU }) => thetaU),
    thetaO: mean(({ thetaO }) => thetaO),
    tauU: mean(({ tauU }) => tauU),
    tauO: mean(({ tauO }) => tauO),
    instability: mean(({ instability }) => instability),
    deviation: mean(({ deviation }) => deviation),
    unserved: mean(({ unserved }) => unserved),
    averagePods: mean(({ averagePods }) => averagePods),
    peakPods: mean(({ peakPods }) => peakPods),
    podHours: mean(({ podHours }) => podHours),
    cost: first.cost === null ? null : mean(({ cost }) => cost ?? 0),
    changes: mean(({ changes }) => changes),
    flaps: mean(({ flaps }) => flaps),
    atMaximum: mean(({ atMaximum }) => atMaximum),
    byLimit: {},
  };
}

function meanHours(figures: readonly Figures[]): number {
  return figures.reduce((sum, { podHours }) => sum + podHours, 0) / figures.length;
}

function whyNone(own: Figures | undefined, conditions: readonly Threshold[]): string {
  const missed = own === undefined ? undefined : conditions.find(({ isMetBy }) => !isMetBy(own, own));
  return missed === undefined
    ? 'no change meets the condition with a margin on the first half and needs fewer pod-hours'
    : `the document does not meet ${missed.text} on the first half, and no other setting does: look at minReplicas, maxReplicas and the start of a pod`;
}

/** The first metric of cpu, otherwise the first one. */
function loadMetricIndex({ spec }: Scaler): number {
  const cpu = spec.metrics.findIndex((metric) => metric.name === 'cpu');
  return Math.max(0, cpu);
}
