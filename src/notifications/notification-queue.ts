import type { Failure, Notification } from './notification.js';

/**
 * Notifications that wait to be sent, at most 1,000. A failure replaces a waiting failure of the same scaler and
 * subject. A failure that ends before it is sent is dropped: a receiver gets the last state, not each change. With
 * `isLasting`, a continuing failure is due again 5 minutes after it was sent, after all new notifications.
 */
interface NotificationQueue {
  /** Returns the number of dropped notifications: 1 if the queue was full, else 0. */
  readonly add: (notification: Notification, nowMs: number) => number;
  /** When the first notification is due; null: the queue is empty. */
  readonly dueMs: () => number | null;
  /** Removes and returns at most `limit` due notifications. */
  readonly take: (nowMs: number, limit: number) => readonly Notification[];
  /** Called if taken `notifications` could not be sent: forgets them. A refreshed failure stays. */
  readonly markLost: (notifications: readonly Notification[]) => void;
  /** Number of failures that are refreshed. */
  readonly lasting: () => number;
}

const MAX_WAITING = 1000;
/** Maximum number of subjects with a remembered state. */
const MAX_SUBJECTS = 10_000;
/** Events of one round arrive together, and one request sends them. */
const GROUP_MS = 1000;
/** Minimum interval per scaler and subject, so a flapping failure is reported once a minute. */
const REPEAT_MS = 60_000;

/** Interval for receivers that end an alert unless it is sent again. */
const REFRESH_MS = 300_000;

interface Waiting {
  readonly notification: Notification;
  readonly dueMs: number;
}

/** `isLasting`: whether a failure still continues, as far as this process knows. Null: failures are sent once. */
export function createNotificationQueue(
  isLasting: ((failure: Failure) => boolean) | null = null,
): NotificationQueue {
  const waiting = new Map<string, Waiting>();
  /** Maps subjects to their last notification, in order of time. Contains only sent failures and recent recoveries. */
  const told = new Map<string, Told>();

  const remember = (failure: Failure, atMs: number): void => {
    const key = keyOf(failure);
    told.delete(key);
    const { failing } = failure;
    told.set(key, { failing, atMs, lasting: failing && isLasting !== null ? failure : null });
    const [oldest] = told.keys();
    if (told.size > MAX_SUBJECTS && oldest !== undefined) told.delete(oldest);
  };

  const refreshDueMs = (): number | null => {
    if (isLasting === null) return null;
    for (const { lasting, atMs } of told.values()) if (lasting !== null) return atMs + REFRESH_MS;
    return null;
  };

  const takeRefreshes = (nowMs: number, limit: number): readonly Failure[] => {
    const taken: Failure[] = [];
    for (const [key, { lasting, atMs }] of [...told]) {
      if (taken.length === limit || atMs + REFRESH_MS > nowMs) break;
      if (lasting === null || isLasting === null) continue;
      // Otherwise its end was lost, or another replica decides for the scaler: the alert expires.
      if (isLasting(lasting)) taken.push(lasting);
      else told.delete(key);
    }
    for (const failure of taken) remember(failure, nowMs);
    return taken;
  };

  return {
    add: (notification, nowMs) => {
      const key = keyOf(notification);
      const last = told.get(key);
      if (notification.event === 'failure' && !notification.failing && last?.failing !== true) {
        waiting.delete(key);
        return 0;
      }
      const repeatMs = notification.event === 'failure' && last !== undefined ? last.atMs + REPEAT_MS : 0;
      waiting.set(key, { notification, dueMs: Math.max(nowMs + GROUP_MS, repeatMs) });
      const [oldest] = waiting.keys();
      if (waiting.size <= MAX_WAITING || oldest === undefined) return 0;
      waiting.delete(oldest);
      return 1;
    },
    dueMs: () => {
      let first: number | null = null;
      for (const { dueMs } of waiting.values()) first = Math.min(first ?? dueMs, dueMs);
      const refreshMs = refreshDueMs();
      return refreshMs === null ? first : Math.min(first ?? refreshMs, refreshMs);
    },
    take: (nowMs, limit) => {
      const due = [...waiting].filter(([, { dueMs }]) => dueMs <= nowMs).slice(0, limit);
      const first = due.map(([key, { notification }]) => {
        waiting.delete(key);
        // Remembers a failure in flight, so its recovery is sent afterwards.
        if (notification.event === 'failure') remember(notification, nowMs);
        return notification;
      });
      // The last request of the process passes an infinite time, and sends no refreshes.
      if (isLasting === null || nowMs === Infinity) return first;
      return [...first, ...takeRefreshes(nowMs, limit - first.length)];
    },
    markLost: (notifications) => {
      for (const one of notifications) {
        if (one.event === 'failure' && !(one.failing && isLasting !== null)) told.delete(keyOf(one));
      }
    },
    lasting: () => {
      let count = 0;
      for (const { lasting } of told.values()) if (lasting !== null) count += 1;
      return count;
    },
  };
}

interface Told {
  readonly failing: boolean;
  readonly atMs: number;
  /** The failure to send again; null: there is none. */
  readonly lasting: Failure | null;
}

/** IDs are unique: only a failure replaces another one. */
function keyOf(notification: Notification): string {
  if (notification.event !== 'failure') return notification.id;
  return `${notification.namespace}/${notification.name} ${notification.subject}`;
}
