import type { Failure, Notification } from './notification.js';

/**
 * Notifications that wait to be sent: at most 1,000. A failure replaces a waiting one of the same scaler and subject, and
 * a failure that ends before it was sent is forgotten: a receiver learns the last state, not each change of it.
 */
export interface NotificationQueue {
  /** Returns the number of dropped notifications: 1 if the queue was full, else 0. */
  readonly add: (notification: Notification, nowMs: number) => number;
  /** When the first notification is due; null: the queue is empty. */
  readonly dueMs: () => number | null;
  /** Removes and returns at most `limit` due notifications. */
  readonly take: (nowMs: number, limit: number) => readonly Notification[];
  /** Forgets that `notifications` were taken, after they could not be sent. */
  readonly markLost: (notifications: readonly Notification[]) => void;
}

const MAX_WAITING = 1000;
/** Of subjects whose last state is remembered. */
const MAX_SUBJECTS = 10_000;
/** Events of one round arrive together, and are sent together. */
const GROUP_MS = 1000;
/** Per scaler and subject, so that a failure that comes and goes is reported once a minute. */
const REPEAT_MS = 60_000;

interface Waiting {
  readonly notification: Notification;
  readonly dueMs: number;
}

export function createNotificationQueue(): NotificationQueue {
  const waiting = new Map<string, Waiting>();
  /** By subject, only failures that were sent and recent ends of failures. */
  const told = new Map<string, { readonly failing: boolean; readonly atMs: number }>();

  const remember = (failure: Failure, failing: boolean, atMs: number): void => {
    const key = keyOf(failure);
    told.delete(key);
    told.set(key, { failing, atMs });
    const [oldest] = told.keys();
    if (told.size > MAX_SUBJECTS && oldest !== undefined) told.delete(oldest);
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
      return first;
    },
    take: (nowMs, limit) => {
      const due = [...waiting].filter(([, { dueMs }]) => dueMs <= nowMs).slice(0, limit);
      return due.map(([key, { notification }]) => {
        waiting.delete(key);
        // Also while it is being sent: its end must follow it.
        if (notification.event === 'failure') remember(notification, notification.failing, nowMs);
        return notification;
      });
    },
    markLost: (notifications) => {
      for (const one of notifications) {
        if (one.event === 'failure') told.delete(keyOf(one));
      }
    },
  };
}

/** The ID of a rescale is unique: none replaces another. */
function keyOf(notification: Notification): string {
  if (notification.event === 'rescale') return notification.id;
  return `${notification.namespace}/${notification.name} ${notification.subject}`;
}
