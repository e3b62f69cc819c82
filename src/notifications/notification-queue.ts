import type { Failure, Notification } from './notification.js';

/**
 * Notifications that wait to be sent, at most 1,000. A receiver gets the last state, not each change: a failure
 * replaces a waiting failure of the same scaler and subject. A failure that ends before it is sent is dropped. With
 * `isLasting`, a failure that continues is sent again after 5 minutes, but after all new notifications.
 */
interface NotificationQueue {
  /** Returns how many notifications were dropped: 1 if the queue was full, otherwise 0. */
  readonly add: (notification: Notification, nowMs: number) => number;
  /** Returns when the first notification is due; null: the queue is empty. */
  readonly dueMs: () => number | null;
  /** Removes and returns at most `limit` notifications that are due. */
  readonly take: (nowMs: number, limit: number) => readonly Notification[];
  /**
   * Forgets that `notifications` were sent, because their request failed. Failures that are sent again every 5 minutes
   * are not forgotten.
   */
  readonly markLost: (notifications: readonly Notification[]) => void;
  /** Returns how many failures will be sent again every 5 minutes. */
  readonly lasting: () => number;
}

const MAX_WAITING = 1000;
/** Maximum number of subjects whose last notification is remembered. */
const MAX_SUBJECTS = 10_000;
/** How long a notification waits for others: events of one round arrive together, and one request sends them. */
const GROUP_MS = 1000;
/**
 * Minimum interval between two notifications of the same scaler and subject: a flapping failure is reported at most
 * once a minute.
 */
const REPEAT_MS = 60_000;

/** Interval at which a failure is sent again to receivers that would otherwise end the alert. */
const REFRESH_MS = 300_000;

interface Waiting {
  readonly notification: Notification;
  readonly dueMs: number;
}

/**
 * Creates a queue. `isLasting` returns whether a failure continues, as far as this process knows. Null: failures are
 * sent only once.
 */
export function createNotificationQueue(
  isLasting: ((failure: Failure) => boolean) | null = null,
): NotificationQueue {
  const waiting = new Map<string, Waiting>();
  /** The last failure or recovery that was taken for each scaler and subject, oldest first. */
  const lastSent = new Map<string, LastSent>();

  const remember = (failure: Failure, atMs: number): void => {
    const key = keyOf(failure);
    lastSent.delete(key);
    const { failing } = failure;
    lastSent.set(key, { failing, atMs, lasting: failing && isLasting !== null ? failure : null });
    const [oldest] = lastSent.keys();
    if (lastSent.size > MAX_SUBJECTS && oldest !== undefined) lastSent.delete(oldest);
  };

  const refreshDueMs = (): number | null => {
    if (isLasting === null) return null;
    for (const { lasting, atMs } of lastSent.values()) if (lasting !== null) return atMs + REFRESH_MS;
    return null;
  };

  const takeRefreshes = (nowMs: number, limit: number): readonly Failure[] => {
    const taken: Failure[] = [];
    for (const [key, { lasting, atMs }] of [...lastSent]) {
      if (taken.length === limit || atMs + REFRESH_MS > nowMs) break;
      if (lasting === null || isLasting === null) continue;
      // If this process sees the failure no more, the event of its end was lost, or another replica now decides the
      // scaler. The failure is then not sent again, so that its alert expires.
      if (isLasting(lasting)) taken.push(lasting);
      else lastSent.delete(key);
    }
    for (const failure of taken) remember(failure, nowMs);
    return taken;
  };

  return {
    add: (notification, nowMs) => {
      const key = keyOf(notification);
      const last = lastSent.get(key);
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
        // The failure is remembered before the request ends, so that a recovery during the request is queued and not
        // dropped.
        if (notification.event === 'failure') remember(notification, nowMs);
        return notification;
      });
      // `nowMs` is infinite for the last request of the process, which repeats no failures.
      if (isLasting === null || nowMs === Infinity) return first;
      return [...first, ...takeRefreshes(nowMs, limit - first.length)];
    },
    markLost: (notifications) => {
      for (const one of notifications) {
        if (one.event === 'failure' && !(one.failing && isLasting !== null)) lastSent.delete(keyOf(one));
      }
    },
    lasting: () => {
      let count = 0;
      for (const { lasting } of lastSent.values()) if (lasting !== null) count += 1;
      return count;
    },
  };
}

interface LastSent {
  readonly failing: boolean;
  readonly atMs: number;
  /** The failure to send again; null: there is none. */
  readonly lasting: Failure | null;
}

/**
 * Returns the key of a notification. A failure has the key of its scaler and subject, because it replaces an earlier
 * failure. Any other key is a unique ID.
 */
function keyOf(notification: Notification): string {
  if (notification.event !== 'failure') return notification.id;
  return `${notification.namespace}/${notification.name} ${notification.subject}`;
}
