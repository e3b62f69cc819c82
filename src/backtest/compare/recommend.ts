import type { Scaler } from '../../scaler/spec.js';
import { addSeconds, type Instant, secondsBetween } from '../../units/time.js';
import type { Figures, Scoring } from '../figures/figures.js';
import type { Threshold } from '../figures/threshold.js';
import { type Candidate, coarseCandidates, fineCandidates } from './recommend-candidates.js';
import { changedVariant } from './sweep.js';
import { type Assumptions, type Result, runOn, scoringOf, type Variant, type World } from './variant.js';

export interface Recommendation {
  /** Null: keep the document as it is. */
  readonly change: Candidate | null;
  readonly reason: string;
  /** The second half, on which the choice was confirmed or refuted. */
  readonly scoring: Scoring;
  /** On the second half: the document, and the change that was chosen on the first half. */
  readonly results: readonly Result[];
}

/** A candidate that meets a condition only just on one half rarely meets it on the other. */
const MARGIN = 0.9;
const MAX_WORSE_THETA_U = 0.05;

interface Setting {
  readonly world: World;
  readonly scoring: Scoring;
  readonly assumptions: Assumptions;
}

/**
 * Picks settings on the first half of the load and scores them on the second. Among the candidates that meet the
 * conditions with a margin on the first half and in both quarters of it, the one with the fewest pod-hours is chosen.
 * It is recommended only if it also needs fewer pod-hours than the document on the second half, and meets the
 * conditions there or has about the same under-provisioning as the document.
 */
export function recommend(
  variant: Variant,
  conditions: readonly Threshold[],
  setting: Setting,
): Recommendation {
  const { start, end } = setting.scoring.demand;
  const middle = addSeconds(start, Math.floor(secondsBetween(start, end) / 2));
  const second = within(setting, middle, end);
  const current = runOn(setting.world, variant, second);
  const keep = (reason: string, more: readonly Result[] = []): Recommendation => ({
    change: null,
    reason,
    scoring: second.scoring,
    results: [current, ...more],
  });
  const chosen = choose(variant, conditions, { ...setting, start, middle });
  if (typeof chosen === 'string') return keep(chosen);
  const confirmed = runOn(setting.world, { ...chosen.variant, name: 'changed' }, second);
  if (current.figures === null || confirmed.figures === null)
    return keep('the load of the second half is unknown');
  const why = whyNotConfirmed(confirmed.figures, current.figures, conditions);
  if (why !== null) return keep(`the best change of the first half ${why} on the second half`, [confirmed]);
  return {
    change: chosen.change,
    reason: `on the second half, the change needs ${percentLess(confirmed.figures, current.figures)} % fewer pod-hours`,
    scoring: second.scoring,
    results: [current, confirmed],
  };
}

interface Choice {
  readonly change: Candidate;
  readonly variant: Variant;
  readonly podHours: number;
}

function choose(
  { name, scaler }: Variant,
  conditions: readonly Threshold[],
  given: Setting & { readonly start: Instant; readonly middle: Instant },
): Choice | string {
  const { start, middle, world } = given;
  const quarter = addSeconds(start, Math.floor(secondsBetween(start, middle) / 2));
  const half = within(given, start, middle);
  const quarters = [within(given, start, quarter), within(given, quarter, middle)];
  const current = runOn(world, { name, scaler }, half).figures;
  if (current === null) return 'the load of the first half is unknown';
  const holds = (variant: Variant, figures: Figures): boolean =>
    conditions.every(({ isMetWithin }) => isMetWithin(figures, MARGIN)) &&
    quarters.every((part) => {
      const own = runOn(world, variant, part).figures;
      return own === null || conditions.every(({ isMetBy }) => isMetBy(own));
    });

  const score = (change: Candidate, best: Choice | null): Choice | null => {
    const variant = changedVariant(scaler, change);
    if ('error' in variant) return best;
    const { figures } = runOn(world, variant, half);
    if (figures === null || figures.podHours >= (best?.podHours ?? current.podHours)) return best;
    return holds(variant, figures) ? { change, variant, podHours: figures.podHours } : best;
  };

  const index = loadMetricIndex(scaler);
  let best: Choice | null = null;
  for (const change of coarseCandidates(scaler, index)) best = score(change, best);
  if (best === null) return whyNoChange(current, conditions);
  for (const change of fineCandidates(scaler, index, best.change)) best = score(change, best) ?? best;
  return best;
}

function whyNoChange(current: Figures, conditions: readonly Threshold[]): string {
  const missed = conditions.find(({ isMetBy }) => !isMetBy(current));
  return missed === undefined
    ? 'no change meets the condition with a margin on the first half and needs fewer pod-hours'
    : `the document itself does not meet ${missed.text} on the first half, and no setting with fewer pod-hours does; try lower targets with --sweep`;
}

function within({ assumptions, scoring }: Setting, start: Instant, end: Instant): Omit<Setting, 'world'> {
  return { assumptions, scoring: scoringOf(scoring.load, assumptions, { start, end }) };
}

function whyNotConfirmed(
  figures: Figures,
  current: Figures,
  conditions: readonly Threshold[],
): string | null {
  if (figures.podHours >= current.podHours) return 'needs no fewer pod-hours';
  const isAsGood = figures.thetaU <= current.thetaU + MAX_WORSE_THETA_U;
  const failed = conditions.find(({ isMetBy }) => !isMetBy(figures));
  return failed === undefined || isAsGood ? null : `does not meet ${failed.text}`;
}

function percentLess(figures: Figures, current: Figures): string {
  return (100 * (1 - figures.podHours / current.podHours)).toFixed(1);
}

/** The first metric of cpu, otherwise the first one. */
function loadMetricIndex({ spec }: Scaler): number {
  const cpu = spec.metrics.findIndex((metric) => metric.name === 'cpu');
  return Math.max(0, cpu);
}
