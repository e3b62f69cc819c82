import type { Figures } from '../../../backtest/compare/figures.js';
import type { Need } from '../../../backtest/history/chart-history.js';
import { countAt, type CountStep } from '../../../backtest/simulation/count-steps.js';
import type { Instant } from '../../../units/time.js';
import { formatCount, plural } from '../../ui/formats.js';

/** By how many percent the pod-hours of the simulation may differ from the recorded pod-hours before the page warns. */
const MOST_DRIFT_PERCENT = 10;

/** Returns the difference between two documents as one sentence. */
export function describeDifference(
  applied: Figures,
  changed: Figures,
  { need }: { readonly need: Need | null },
): string {
  const share = percentOf(changed.podHours, applied.podHours);
  const parts = [
    compare(hoursText(applied.podHours), hoursText(changed.podHours), (text) => `${text} pod-hours`) +
      (share === 0 ? '' : ` (${moreOrLess(share)})`),
    compare(applied.changes, changed.changes, (count) => plural(count, 'change')),
    compare(
      percentText(applied.atMaximum),
      percentText(changed.atMaximum),
      (text) => `limited by maxReplicas in ${text} of the decisions`,
    ),
    ...(need === null
      ? []
      : [
          compare(
            percentText(applied.thetaU),
            percentText(changed.thetaU),
            (text) => `${text} missing pods (of the pods that ${NEEDED[need.by]})`,
          ),
        ]),
  ];
  return `With the change: ${parts.join('; ')}.`;
}

const NEEDED: Readonly<Record<Need['by'], string>> = {
  capacity: 'the load needs',
  target: 'keep the load at its target',
};

function compare<Value>(before: Value, after: Value, describe: (value: Value) => string): string {
  return before === after ? `still ${describe(after)}` : `${describe(after)} instead of ${String(before)}`;
}

/**
 * Compares the simulation without the change with the recorded replicas. `isFar`: they differ too much to trust the
 * counts.
 */
export function describeDrift(
  applied: Figures,
  ran: Figures,
): { readonly text: string; readonly isFar: boolean } {
  const percent = percentOf(applied.podHours, ran.podHours);
  const isFar = Math.abs(percent) > MOST_DRIFT_PERCENT;
  const text = `Without the change, the simulation has ${hoursText(applied.podHours)} pod-hours and ${plural(applied.changes, 'change')}; the recorded replicas have ${hoursText(ran.podHours)} and ${formatCount(ran.changes)}.`;
  return {
    isFar,
    text: isFar
      ? `${text} The difference is large (${moreOrLess(percent)}): a pause, a dry run, another writer or an earlier document may have set the replicas. The two simulations are comparable with each other, but not with the recorded replicas.`
      : text,
  };
}

/** Returns the difference in whole percent of `base`. */
function percentOf(value: number, base: number): number {
  return base === 0 ? 0 : Math.round((100 * (value - base)) / base);
}

function moreOrLess(percent: number): string {
  return percent > 0 ? `${percent} % more` : `${-percent} % less`;
}

export function hoursText(hours: number): string {
  return String(Number(hours.toPrecision(3)));
}

export function percentText(percent: number): string {
  return `${Number(percent.toFixed(1))} %`;
}

/** Returns columns for a chart of step functions: the times in Unix seconds, and the counts of each list. */
export function chartColumns(
  lists: readonly (readonly CountStep[])[],
  end: Instant,
): readonly (readonly (number | null)[])[] {
  const times = [...new Set([...lists.flatMap((steps) => steps.map(({ at }) => at)), end])].sort(
    (a, b) => a - b,
  );
  return [
    times.map((at) => at / 1000),
    ...lists.map((steps) => times.map((at) => (steps.length === 0 ? null : countAt(steps, at)))),
  ];
}
