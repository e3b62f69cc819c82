import type { Scaler } from '../../scaler/spec.js';
import type { Figures } from '../figures/figures.js';
import { readFigure, type Threshold } from '../figures/threshold.js';
import type { Probe } from './probes.js';
import { firstSettings, neighbours } from './recommend-candidates.js';
import { type Assignment, changedVariant } from './sweep.js';
import { changedFields, countChanges, presentSettings, type TunedSettings } from './tuned-settings.js';

export interface FoundSettings {
  /** Fields that differ from the document. */
  readonly change: readonly Assignment[];
  readonly scaler: Scaler;
  /** The document misses the conditions, so that the change may need more pod-hours than it. */
  readonly mayCostMore: boolean;
}

/** A candidate that meets a condition with a limit only just on one half rarely meets it on the other. */
const MARGIN = 0.9;
/** How much a figure may be worse than that of the document, as a mean of the probes. */
const MEAN_SLACK = 0.05;
/** The same for each probe: a number, and a share of the figure of the document. */
const SLACK = 0.05;
const SLACK_SHARE = 0.1;
/** Pod-hours on each probe, as a share of those of the document. */
const MOST_HOURS = 1.02;
/** Fewer pod-hours by less than this share are noise. */
const LEAST_SAVING = 0.001;
/**
 * Share of the pod-hours that each changed field has to save: settings that differ in many fields owe more of what they
 * save to the one load for which they were chosen.
 */
const FIELD_COST = 0.02;
/** Candidates with the fewest pod-hours on the load itself that are tried on the other probes. */
const MOST_PROBED = 60;
const MOST_STEPS = 4;

/**
 * Returns the settings with the fewest pod-hours, as a mean of the probes, that meet the conditions on all of them, where
 * each changed field counts as 2 % of the pod-hours; or why there are none. Changes of one or two fields are followed by
 * steps to the best neighbour. The same load gives the same settings, after at most some hundred runs.
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
  const isMissed = !isMetByDocument(own, conditions);
  const search: Search = { scaler, index, present, conditions, probes, own, isMissed };
  // A schedule has a minReplicas of its own.
  const mayRaiseMinimum = isMissed && scaler.spec.schedules.length === 0;
  const bounds = { metric, mayRaiseMinimum, maxReplicas: scaler.spec.maxReplicas };
  let best = await bestOf(search, firstSettings(present, bounds), Infinity);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const around = neighbours(best?.settings ?? present, bounds);
    const better = await bestOf(search, around, best?.score ?? Infinity);
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
  readonly present: TunedSettings;
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
  /** Pod-hours as a share of those of the document, and the cost of the changed fields. */
  readonly score: number;
}

interface Probed {
  readonly candidate: Candidate;
  /** By probe, as far as it has run. */
  readonly figures: readonly Figures[];
}

/** Returns the best of these settings whose score is below `limit`; null if there is none. */
async function bestOf(
  search: Search,
  settings: readonly TunedSettings[],
  limit: number,
): Promise<Scored | null> {
  let left: readonly Probed[] = settings
    .flatMap((one) => candidateOf(search, one))
    .map((candidate) => ({ candidate, figures: [] }));
  for (const [number, probe] of search.probes.entries()) {
    left = await keepPromising(search, left, probe);
    if (number === 0) left = left.toSorted((a, b) => hoursOf(a) - hoursOf(b)).slice(0, MOST_PROBED);
  }
  let best: Scored | null = null;
  for (const probed of left) {
    const score = scoreOf(search, probed);
    if (score !== null && score < (best?.score ?? limit)) best = { ...probed.candidate, score };
  }
  return best;
}

/** Runs the candidates on one more probe. What is no candidate on it is not tried on the others. */
async function keepPromising(
  { conditions, own, isMissed }: Search,
  probed: readonly Probed[],
  probe: Probe,
): Promise<readonly Probed[]> {
  const results = await probe.run(probed.map(({ candidate: { scaler } }) => ({ name: '', scaler })));
  return probed.flatMap(({ candidate, figures: before }, number): readonly Probed[] => {
    const figures = results[number] ?? null;
    const reference = own[before.length];
    if (figures === null || reference === undefined) return [];
    const isCheaper = isMissed || figures.podHours <= MOST_HOURS * reference.podHours;
    const isFirst = before.length === 0;
    const isPromising = isCheaper && mayMeet(figures, reference, { conditions, isFirst });
    return isPromising ? [{ candidate, figures: [...before, figures] }] : [];
  });
}

function hoursOf({ figures: [first] }: Probed): number {
  return first?.podHours ?? Infinity;
}

/** Null: it does not meet the conditions as a mean, or saves too little. */
function scoreOf(
  { own, present, conditions, isMissed }: Search,
  { candidate, figures }: Probed,
): number | null {
  if (!isMetOnAverage(figures, own, conditions)) return null;
  const share = meanOf(figures, (one, number) => one.podHours / (own[number]?.podHours ?? NaN));
  if (!isMissed && share > 1 - LEAST_SAVING) return null;
  return share + FIELD_COST * countChanges(candidate.settings, present);
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

function isMetByDocument(own: readonly Figures[], conditions: readonly Threshold[]): boolean {
  const [first] = own;
  return first !== undefined && conditions.every(({ isMetBy }) => isMetBy(first, first));
}

/** Conditions with a limit hold with a margin as a mean of the probes, those relative to the document with a slack. */
function isMetOnAverage(
  figures: readonly Figures[],
  own: readonly Figures[],
  conditions: readonly Threshold[],
): boolean {
  const mean = meanFigures(figures);
  return conditions.every(({ isRelative, isMetNear, isMetWithin }) =>
    isRelative ? isMetNear(mean, meanFigures(own), MEAN_SLACK) : isMetWithin(mean, MARGIN),
  );
}

/** Conditions with a limit hold on the load itself, those relative to the document with a slack on each probe. */
function mayMeet(
  figures: Figures,
  own: Figures,
  { conditions, isFirst }: { readonly conditions: readonly Threshold[]; readonly isFirst: boolean },
): boolean {
  return conditions.every(({ figure, isRelative, isMetNear, isMetWithin }) => {
    if (!isRelative) return !isFirst || isMetWithin(figures, MARGIN);
    const slack = SLACK + SLACK_SHARE * Math.abs(readFigure(figure, own) ?? 0);
    return isMetNear(figures, own, slack);
  });
}

function meanFigures(figures: readonly Figures[]): Figures {
  const [first] = figures;
  if (first === undefined) throw new Error('a mean needs figures');
  const mean = (read: (one: Figures) => number): number => meanOf(figures, read);
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

function meanOf(figures: readonly Figures[], read: (one: Figures, number: number) => number): number {
  return figures.reduce((sum, one, number) => sum + read(one, number), 0) / figures.length;
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
