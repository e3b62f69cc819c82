import { LEAST_MISSING_PODS } from '../../decision/forecast/worth.js';
import { countOf, formatSeconds } from '../../units/format.js';
import { addSeconds, secondsBetween } from '../../units/time.js';
import { createLoad, type Load } from '../simulation/load.js';
import type { Figures, Scoring } from './figures.js';
import type { Threshold } from './threshold.js';
import { CAREFUL_SLACK, findSettings } from './search-settings.js';
import { probesOf, figuresByWindow, subWindows } from './probes.js';
import { withMode } from './compare-forecast.js';
import type { Assignment } from './sweep.js';
import {
  type Backtest,
  baselines,
  type Result,
  resultOf,
  runAll,
  scoringOf,
  type Variant,
} from './variant.js';

export interface Recommendation {
  /** Null: keep the document as it is. */
  readonly change: readonly Assignment[] | null;
  readonly reason: string;
  /** Null: `change` is null. */
  readonly saving: Saving | null;
  /** How the second half of the load is scored. */
  readonly scoring: Scoring;
  /** The figures of the document and of the chosen change in the scored parts of the second half. */
  readonly results: readonly Result[];
  /** The figures of the static fleets and of the ideal follower in the scored parts. */
  readonly baselines: readonly Result[];
}

/** The saving in percent of the pod-hours of the document; negative: the change needs more pod-hours. */
export interface Saving {
  readonly percent: number;
  /** The lowest saving in one of the scored parts. */
  readonly lowest: number;
  readonly highest: number;
}

const MAX_WORSE_THETA_U = 0.05;

/**
 * Chooses settings on the first half of the load. The second half is cut into twelve parts, which alternately confirm
 * and score the settings, so that both groups contain days and nights.
 *
 * Recommends a change only if, in both groups, it needs fewer pod-hours than the document, and either meets the
 * conditions or has about the same theta_U. If the document misses the conditions, a change that meets them may need
 * more pod-hours.
 */
export async function recommend(
  variant: Variant,
  conditions: readonly Threshold[],
  input: Backtest,
): Promise<Recommendation> {
  const { scoring, assumptions } = input;
  const { start, end } = scoring.demand;
  const middle = addSeconds(start, Math.floor(secondsBetween(start, end) / 2));
  const half = scoringOf(scoring.load, assumptions, { start: middle, end });
  const second = { ...input, scoring: half };
  const windows = subWindows(half, assumptions);
  const [confirming, scored] = [0, 1].map((rest) => windows.filter((_, index) => index % 2 === rest));
  const inParts = (parts: readonly Scoring[] = []): Scoring =>
    scoringOf(onlyWithin(half, parts), assumptions, { start: middle, end });
  const [confirmation, score] = [inParts(confirming), inParts(scored)];
  const answer = (
    reason: string,
    runs: readonly Result[],
    found: Pick<Recommendation, 'change' | 'saving'> = { change: null, saving: null },
  ): Recommendation => {
    const results = runs.map((one) => resultIn(score, one));
    return { ...found, reason, scoring: half, results, baselines: baselines(score, results[0]) };
  };
  const raised = await tryRaise(variant, { conditions, confirmation, score, windows: scored ?? [], second });
  if (raised !== null) return answer(raised.reason, raised.results, raised);
  const found = await findSettings(variant.scaler, conditions, probesOf(input, start, middle));
  if (typeof found === 'string') return answer(found, await runAll([variant], second));
  const changed = { name: 'changed', scaler: found.scaler };
  const results = await runAll([variant, changed], second);
  const confirmed = compareIn(confirmation, results);
  if (confirmed === null) return answer('the load of the second half is unknown', results);
  const aim = { conditions, mayCostMore: found.mayCostMore };
  const why = whyNotConfirmed(confirmed, aim);
  if (why !== null)
    return answer(
      `the best change for the first half of the load was not confirmed: in the parts of the second half that are used to confirm a change, it ${why}`,
      results,
    );
  const compared = compareIn(score, results);
  if (compared === null) return answer('the load of the second half is unknown', results);
  const whyNot = whyNotConfirmed(compared, aim);
  if (whyNot !== null)
    return answer(
      `the best change for the first half of the load was confirmed, but in the parts of the second half that are used to score a change, it ${whyNot}`,
      results,
    );
  const saving = savingIn(scored ?? [], compared, results);
  const isMissed = conditions.some(({ isMetBy }) => !isMetBy(compared.current, compared.current));
  const whyTooSmall = isMissed ? null : whyNotNotable(saving);
  if (whyTooSmall !== null) return answer(whyTooSmall, results);
  const accepted = [
    ...(found.isCareful
      ? [
          `because the change lowers the tolerance of scale-downs, theta_U may rise by up to ${CAREFUL_SLACK} percentage points`,
        ]
      : []),
    ...describeMiss(confirmed, conditions, 'confirm'),
    ...describeMiss(compared, conditions, 'score'),
    ...describeFlaps(compared),
    ...describeLength(secondsBetween(start, end)),
  ];
  const reason = [describeSaving(saving), ...accepted].join('; ');
  return answer(reason, results, { change: found.change, saving });
}

/** A forecast is recommended if at most this share of theta_U is left. */
const LEFT_BY_FORECAST = 0.5;

/**
 * Recommends `mode: Raise` for a document with `mode: Observe` if `Raise` at least halves theta_U within the budget of
 * the forecast, in both groups of parts. Returns null otherwise. Tries no other settings.
 */
async function tryRaise(
  variant: Variant,
  {
    conditions,
    confirmation,
    score,
    windows,
    second,
  }: {
    readonly conditions: readonly Threshold[];
    readonly confirmation: Scoring;
    readonly score: Scoring;
    readonly windows: readonly Scoring[];
    readonly second: Backtest;
  },
): Promise<Pick<Recommendation, 'change' | 'reason' | 'saving' | 'results'> | null> {
  const { forecast } = variant.scaler.spec;
  if (forecast?.mode !== 'Observe') return null;
  const results = await runAll([variant, { ...withMode(variant, 'Raise'), name: 'changed' }], second);
  const [confirmed, compared] = [confirmation, score].map((part) => compareIn(part, results));
  const isWorth = (one: Compared | null | undefined): one is Compared =>
    one !== null && one !== undefined && isWorthRaising(one, forecast.budgetPercent, conditions);
  if (!isWorth(confirmed) || !isWorth(compared)) return null;
  const { current, changed } = compared;
  const saving = savingIn(windows, compared, results);
  const percents = [current, changed].map(({ thetaU }) => `${thetaU.toFixed(3)} %`).join(' to ');
  return {
    change: [{ field: 'forecast.mode', value: 'Raise' }],
    reason: `the forecast lowers theta_U (missing pods) from ${percents}, and needs ${Math.abs(saving.percent).toFixed(1)} % ${saving.percent > 0 ? 'fewer' : 'more'} pod-hours, in the parts of the second half of the load that are used to score a change. In the parts that are used to confirm a change, the forecast at least halves theta_U. Other settings were not tried`,
    saving,
    results,
  };
}

/**
 * Returns whether `mode: Raise` is worth a change: theta_U is at least halved, and the budget and the conditions hold.
 * Without `Raise`, at least `LEAST_MISSING_PODS` must be missing on average, as in the condition ForecastUseful.
 */
export function isWorthRaising(
  { current, changed }: Compared,
  budgetPercent: number,
  conditions: readonly Threshold[],
): boolean {
  return (
    (current.thetaU / 100) * current.averagePods >= LEAST_MISSING_PODS &&
    changed.thetaU <= LEFT_BY_FORECAST * current.thetaU &&
    changed.podHours <= (1 + budgetPercent / 100) * current.podHours &&
    conditions.every(({ isMetBy }) => isMetBy(changed, current))
  );
}

/** Returns the load within these parts. Outside of them, the load is unknown. */
function onlyWithin({ load, demand }: Scoring, parts: readonly Scoring[]): Load {
  const times: number[] = [];
  const values: number[] = [];
  for (const { demand: part } of parts) {
    load.pieces(part.start, part.end, (from, _, value) => {
      times.push(from);
      values.push(value ?? NaN);
    });
    times.push(part.end);
    values.push(NaN);
  }
  if (times.length === 0) {
    times.push(demand.start);
    values.push(NaN);
  }
  return createLoad(
    Float64Array.from(times),
    Float64Array.from(values),
    demand.end,
    load.data.isInterpolated,
  );
}

function resultIn(part: Scoring, { name, run, error }: Result): Result {
  return run === null ? { name, run, figures: null, error } : resultOf(name, run, part);
}

/** The figures of the document and of the change in the same parts of the load. */
interface Compared {
  readonly current: Figures;
  readonly changed: Figures;
}

/** Returns null if the load is unknown, or if one of the documents could not run. */
function compareIn(part: Scoring, results: readonly Result[]): Compared | null {
  const [current, changed] = results.map((one) => resultIn(part, one).figures);
  return current === undefined || changed === undefined || current === null || changed === null
    ? null
    : { current, changed };
}

function whyNotConfirmed(
  { current, changed }: Compared,
  { conditions, mayCostMore }: { readonly conditions: readonly Threshold[]; readonly mayCostMore: boolean },
): string | null {
  const failed = conditions.find(({ isMetBy }) => !isMetBy(changed, current));
  const currentFails = conditions.some(({ isMetBy }) => !isMetBy(current, current));
  if (changed.podHours >= current.podHours && !(mayCostMore && currentFails && failed === undefined))
    return 'does not reduce the pod-hours';
  const isAsGood = changed.thetaU <= current.thetaU + MAX_WORSE_THETA_U;
  return failed === undefined || isAsGood ? null : `does not meet ${failed.text}`;
}

/** Returns a sentence about the first condition that the change misses; empty: the change meets all conditions. */
function describeMiss(
  { current, changed }: Compared,
  conditions: readonly Threshold[],
  part: 'confirm' | 'score',
): readonly string[] {
  const missed = conditions.find(({ isMetBy }) => !isMetBy(changed, current));
  if (missed === undefined) return [];
  const more = Math.max(0, changed.thetaU - current.thetaU);
  return [
    `the change does not meet ${missed.text} in the parts of the second half that are used to ${part} a change: its theta_U (missing pods in percent of the needed pods) is ${more.toFixed(3)} percentage points higher than that of the document (at most ${MAX_WORSE_THETA_U} is accepted)`,
  ];
}

function savingIn(
  windows: readonly Scoring[],
  { current, changed }: Compared,
  results: readonly Result[],
): Saving {
  const [before = [], after = []] = results.map(({ run }) =>
    run === null ? [] : figuresByWindow(run, windows),
  );
  const percentOf = (one: Figures, other: Figures): number => 100 * (1 - one.podHours / other.podHours);
  const byWindow = windows.flatMap((_, index) => {
    const [own, its] = [before[index] ?? null, after[index] ?? null];
    return own === null || its === null ? [] : [percentOf(its, own)];
  });
  const percent = percentOf(changed, current);
  return { percent, lowest: Math.min(percent, ...byWindow), highest: Math.max(percent, ...byWindow) };
}

/** Returns a note if the change makes the count go back and forth more often; otherwise empty. */
export function describeFlaps({ current, changed }: Compared): readonly string[] {
  if (changed.flaps <= current.flaps) return [];
  return [
    `the change scales back and forth more often: it has ${countOf(changed.flaps, 'flap')}, the document has ${current.flaps}`,
  ];
}

/** A load must cover at least two days, because most loads repeat every day. */
const SHORT_SECONDS = 2 * 86_400;

/** Returns a note that the load is too short to confirm a change; empty: it is long enough. */
export function describeLength(seconds: number): readonly string[] {
  if (seconds >= SHORT_SECONDS) return [];
  return [
    `the load covers only ${formatSeconds(seconds)}: the back-test confirms a change only if the load repeats at least every ${formatSeconds(seconds / 2)}`,
  ];
}

/** A change must save at least this much of the pod-hours. */
const LEAST_NOTABLE_PERCENT = 1;

const SCORED = 'in the parts of the second half that were used neither to search nor to confirm the change';

/**
 * Returns why a saving is too small to change the document; null: the saving is large enough, or the change needs more
 * pod-hours.
 */
export function whyNotNotable({ percent, lowest, highest }: Saving): string | null {
  if (percent <= 0 || percent >= LEAST_NOTABLE_PERCENT) return null;
  const [saved, least, most] = [percent, lowest, highest].map((value) => value.toFixed(2));
  return `no change saves at least ${LEAST_NOTABLE_PERCENT} % of the pod-hours: the best one saves ${saved} % (${least} to ${most} % depending on the part) ${SCORED}`;
}

export function describeSaving({ percent, lowest, highest }: Saving): string {
  const isSaving = percent > 0;
  const text = (value: number): string => (isSaving ? value : -value).toFixed(1);
  const [least, most] = isSaving ? [lowest, highest] : [highest, lowest];
  const spread = `(${text(least)} to ${text(most)} % depending on the part)`;
  return isSaving
    ? `expect ${text(percent)} % fewer pod-hours ${spread} ${SCORED}`
    : `expect ${text(percent)} % more pod-hours ${spread} ${SCORED}; the change meets the condition, and the document does not`;
}
