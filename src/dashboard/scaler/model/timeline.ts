import type { ScalerDetail, ScalerEventList, ScalerState } from '../../../api/answers.js';
import type { LimitName } from '../../../decision/result/limit-names.js';
import type { IconName } from '../../ui/icon-paths.js';
import { SEVERITIES } from '../../ui/severities.js';
import type { Condition, DecisionEntry } from './answers.js';
import type { Change } from './changes.js';

/** A change of the replicas, or a Kubernetes Event. Consecutive equal changes or Events are one item. */
export interface TimelineItem {
  /** Time of the first change or Event in RFC 3339. */
  readonly firstAt: string;
  readonly lastAt: string;
  readonly count: number;
  /** For example `4 → 6`, or the reason of the Event. */
  readonly title: string;
  readonly text: string;
  readonly isWarning: boolean;
  readonly icon: IconName;
  /** Time of the last change in Unix seconds; null: there is no decision that the user can select. */
  readonly second: number | null;
}

type LastScales = Pick<ScalerDetail, 'lastScaleUp' | 'lastScaleDown'>;

/**
 * Events with this reason report a change. They are omitted for times in which the list shows changes, which have more
 * details.
 */
const RESCALE = 'SuccessfulRescale';
export const MOST_ITEMS = 20;

/**
 * Returns at most 20 changes and Events, newest first. Consecutive equal items are merged. `lastScaleUp` and
 * `lastScaleDown` add changes whose decisions are no longer known: after a restart, or if the document was deleted and
 * added again.
 */
export function buildTimeline(
  changes: readonly Change[],
  events: ScalerEventList['items'],
  { lastScaleUp, lastScaleDown }: LastScales,
): readonly TimelineItem[] {
  const oldest = changes[0]?.second ?? Infinity;
  const items = [
    ...changes.map(itemOfChange),
    ...itemOfLast('up', lastScaleUp, { changes, events }),
    ...itemOfLast('down', lastScaleDown, { changes, events }),
    ...events
      .filter(({ reason, at }) => reason !== RESCALE || Date.parse(at) / 1000 < oldest)
      .map(({ at, type, reason, message, count }) => ({
        firstAt: at,
        lastAt: at,
        count,
        title: reason,
        text: message,
        isWarning: type === 'Warning',
        icon: type === 'Warning' ? ('warning' as const) : ('ok' as const),
        second: null,
      })),
  ].sort((a, b) => Date.parse(b.lastAt) - Date.parse(a.lastAt));
  const folded: TimelineItem[] = [];
  for (const item of items) {
    const later = folded.at(-1);
    if (later?.title === item.title && later.text === item.text)
      folded[folded.length - 1] = { ...later, firstAt: item.firstAt, count: later.count + item.count };
    else folded.push(item);
  }
  return folded.slice(0, MOST_ITEMS);
}

/**
 * Returns the item for the time of the last scale-up or scale-down; empty: the time is unknown, or `changes` or
 * `events` contain the change.
 */
function itemOfLast(
  icon: 'up' | 'down',
  at: string | null,
  { changes, events }: { readonly changes: readonly Change[]; readonly events: ScalerEventList['items'] },
): readonly TimelineItem[] {
  if (at === null) return [];
  const second = Date.parse(at) / 1000;
  const isListed =
    changes.some(
      (change) =>
        change.isApplied && change.to > change.from === (icon === 'up') && change.second >= second - 1,
    ) ||
    events.some(
      ({ reason, at: sent }) => reason === RESCALE && Math.abs(Date.parse(sent) / 1000 - second) <= 5,
    );
  if (isListed) return [];
  return [
    {
      ...{ firstAt: at, lastAt: at, count: 1, title: `Scale-${icon}`, text: NOT_KEPT },
      ...{ isWarning: false, icon, second: null },
    },
  ];
}

const NOT_KEPT = 'the decision is no longer kept';

function itemOfChange({ at, second, from, to, label, isApplied, isKept, reason }: Change): TimelineItem {
  const [title = label, why] = label.split(', ', 2);
  const text = !isKept ? NOT_KEPT : why === undefined ? reason || 'scaled' : `not applied: ${why}`;
  const icon = to > from ? 'up' : 'down';
  const times = { firstAt: at, lastAt: at, count: 1, second: isKept ? second : null };
  return { ...times, title, text, isWarning: !isApplied, icon };
}

/** A time range (Unix seconds) in which the same limit, or none, determined the result. */
export interface LimitSpan {
  readonly from: number;
  readonly to: number;
  /** Null: no limit changed the result. */
  readonly limit: LimitName | null;
  /** The most urgent severity of the states in the range. */
  readonly severity: ScalerState['severity'];
}

/**
 * Returns the time ranges with the last limit that changed the result, oldest first. There is no range before the
 * oldest entry or for times without a decision. `entries` are newest first. A range ends with the next decision; the
 * last range ends at `now` (Unix seconds), and is empty if the clock of the browser is behind.
 */
export function limitSpans(entries: readonly DecisionEntry[], now: number): readonly LimitSpan[] {
  const spans: LimitSpan[] = [];
  let to = now;
  for (const { firstAt, decision, state } of entries) {
    const from = Date.parse(firstAt) / 1000;
    const later = spans.at(-1);
    if (decision !== null) {
      const limit = decision.limits.at(-1)?.limit ?? null;
      if (later?.limit === limit && later.from === to) {
        const severity = SEVERITIES.find((one) => one === later.severity || one === state.severity);
        spans[spans.length - 1] = { ...later, from, severity: severity ?? later.severity };
      } else spans.push({ from, to: Math.max(from, to), limit, severity: state.severity });
    }
    to = from;
  }
  return spans.reverse();
}

export interface Transition {
  /** Time of the first decision with the new status or reason. */
  readonly at: string;
  readonly from: Condition | null;
  readonly to: Condition;
}

/**
 * Maps the type of a condition to the changes of its status or reason. Changes and `entries` are newest first. `from`
 * is null for the first known status.
 */
export function listTransitions(
  entries: readonly DecisionEntry[],
): ReadonlyMap<string, readonly Transition[]> {
  const found = new Map<string, Transition[]>();
  const last = new Map<string, Condition>();
  for (const entry of [...entries].reverse()) {
    for (const condition of entry.conditions) {
      const from = last.get(condition.type) ?? null;
      last.set(condition.type, condition);
      if (from !== null && from.status === condition.status && from.reason === condition.reason) continue;
      const list = found.get(condition.type) ?? [];
      list.unshift({ at: entry.firstAt, from, to: condition });
      found.set(condition.type, list);
    }
  }
  return found;
}
