import { addSeconds, type Instant, secondsBetween } from '../../units/time.js';
import type { Figures, Scoring } from '../figures/figures.js';
import type { Threshold } from '../figures/threshold.js';
import { type ProbeSetting, probesOf } from './probes.js';
import { findSettings } from './search-settings.js';
import type { Assignment } from './sweep.js';
import { type Result, runAllOn, scoringOf, type Variant } from './variant.js';

export interface Recommendation {
  /** Null: keep the document as it is. */
  readonly change: readonly Assignment[] | null;
  readonly reason: string;
  /** The second half, on which the choice was confirmed or refuted. */
  readonly scoring: Scoring;
  /** On the second half: the document, and the change that was chosen on the first half. */
  readonly results: readonly Result[];
}

const MAX_WORSE_THETA_U = 0.05;

/**
 * Picks settings on the first half of the load and scores them on the second. The change is recommended only if it
 * confirms there what it promised: fewer pod-hours than the document, and the conditions, or about the same
 * under-provisioning as the document. If the document misses the conditions, a change that meets them may cost more.
 */
export async function recommend(
  variant: Variant,
  conditions: readonly Threshold[],
  setting: ProbeSetting,
): Promise<Recommendation> {
  const { start, end } = setting.scoring.demand;
  const middle = addSeconds(start, Math.floor(secondsBetween(start, end) / 2));
  const second = { ...setting, scoring: secondHalf(setting, middle, end) };
  const answer = (reason: string, results: readonly Result[]): Recommendation => ({
    change: null,
    reason,
    scoring: second.scoring,
    results,
  });
  const found = await findSettings(variant.scaler, conditions, probesOf(setting, start, middle));
  if (typeof found === 'string') return answer(found, await runAllOn(setting.world, [variant], second));
  const changed = { name: 'changed', scaler: found.scaler };
  const results = await runAllOn(setting.world, [variant, changed], second);
  const [current, confirmed] = results.map(({ figures }) => figures);
  if (current === undefined || confirmed === undefined || current === null || confirmed === null)
    return answer('the load of the second half is unknown', results);
  const why = whyNotConfirmed(confirmed, current, { conditions, mayCostMore: found.mayCostMore });
  if (why !== null) return answer(`the best change of the first half ${why} on the second half`, results);
  return {
    change: found.change,
    reason: `on the second half, the change needs ${describeCost(confirmed, current)}${describeMiss(confirmed, current, conditions)}`,
    scoring: second.scoring,
    results,
  };
}

function secondHalf({ scoring, assumptions }: ProbeSetting, start: Instant, end: Instant): Scoring {
  return scoringOf(scoring.load, assumptions, { start, end });
}

function whyNotConfirmed(
  figures: Figures,
  current: Figures,
  { conditions, mayCostMore }: { readonly conditions: readonly Threshold[]; readonly mayCostMore: boolean },
): string | null {
  const failed = conditions.find(({ isMetBy }) => !isMetBy(figures, current));
  const currentFails = conditions.some(({ isMetBy }) => !isMetBy(current, current));
  if (figures.podHours >= current.podHours && !(mayCostMore && currentFails && failed === undefined))
    return 'needs no fewer pod-hours';
  const isAsGood = figures.thetaU <= current.thetaU + MAX_WORSE_THETA_U;
  return failed === undefined || isAsGood ? null : `does not meet ${failed.text}`;
}

/** A change that misses a condition is accepted if its under-provisioning is about that of the document. */
function describeMiss(figures: Figures, current: Figures, conditions: readonly Threshold[]): string {
  const missed = conditions.find(({ isMetBy }) => !isMetBy(figures, current));
  if (missed === undefined) return '';
  const more = Math.max(0, figures.thetaU - current.thetaU);
  return `; it does not meet ${missed.text}, with ${more.toFixed(3)} points more theta_U than the document (at most ${MAX_WORSE_THETA_U} are accepted)`;
}

/** Less than this is no reason to change a document. */
const LEAST_NOTABLE_PERCENT = 1;

export function describeCost(figures: Figures, current: Figures): string {
  const saved = 100 * (1 - figures.podHours / current.podHours);
  const percent = Math.abs(saved).toFixed(1);
  if (saved > 0 && saved < LEAST_NOTABLE_PERCENT)
    return `hardly fewer pod-hours (${saved.toFixed(2)} %): on its own no reason to change the document`;
  return saved > 0
    ? `${percent} % fewer pod-hours`
    : `${percent} % more pod-hours, and meets the condition, which the document misses`;
}
