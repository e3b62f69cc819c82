import type { ScalerEventList } from '../../../api/answers.js';
import type { IconName } from '../../ui/icon-paths.js';
import type { Change } from './changes.js';

/** A change of the replicas, or a Kubernetes Event. Several equal ones in a row are one item. */
export interface TimelineItem {
  /** Time of the first one in RFC 3339. */
  readonly firstAt: string;
  readonly lastAt: string;
  readonly count: number;
  /** For example `4 → 6`, or the reason of the Event. */
  readonly title: string;
  readonly text: string;
  readonly isWarning: boolean;
  readonly icon: IconName;
  /** Unix seconds of the last change, so that it can be selected; null: the item is an Event. */
  readonly second: number | null;
}

/** Events with this reason are omitted: they report a change, which the list shows with more details. */
const RESCALE = 'SuccessfulRescale';
const MOST = 20;

/** Returns at most 20 changes and Events, the newest first. Equal ones in a row are merged. */
export function buildTimeline(
  changes: readonly Change[],
  events: ScalerEventList['items'],
): readonly TimelineItem[] {
  const oldest = changes[0]?.second ?? Infinity;
  const items = [
    ...changes.map(itemOfChange),
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
  return folded.slice(0, MOST);
}

function itemOfChange({ at, second, from, to, label, isApplied, reason }: Change): TimelineItem {
  const [title = label, why] = label.split(', ', 2);
  const text = why === undefined ? reason || 'scaled' : `not applied: ${why}`;
  const icon = to > from ? 'up' : 'down';
  return { firstAt: at, lastAt: at, count: 1, title, text, isWarning: !isApplied, icon, second };
}
