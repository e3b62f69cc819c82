import type { EventFeed } from '../telemetry/event-feed.js';
import type { Ledger } from '../telemetry/ledger.js';
import { isSubjectFailing } from '../telemetry/feed-events.js';
import { type Clock, sleep } from '../units/clock.js';
import type { Log } from '../units/log.js';
import { notificationOf, type Failure, type ReceiverConfig, type Notification } from './notification.js';
import { createReceiver, type PostResult, type Receiver, writeBody } from './post.js';
import { onAbort } from '../units/abort.js';
import { addSeconds, type Instant } from '../units/time.js';
import { createNotificationQueue } from './notification-queue.js';

interface Notifier {
  /** Sends notifications until `signal` is aborted, and then for at most 2 s. Never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * Creates a notifier for the events in `feed`. Only the replica that decides a scaler has its events, so only the
 * leader, or with sharding the owner of the scaler, sends notifications. Decisions never wait for requests: the feed
 * only adds events to a queue in memory.
 */
export function createNotifier(options: {
  readonly receivers: readonly ReceiverConfig[];
  readonly feed: Pick<EventFeed, 'subscribe'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: DeliveryCounters;
  readonly ledger: Pick<Ledger, 'get'>;
}): Notifier {
  const { receivers, feed, clock, log, counters, ledger } = options;
  const isLasting = ({ namespace, name, subject }: Failure): boolean => {
    const status = ledger.get(`${namespace}/${name}`);
    return status !== null && isSubjectFailing(status, subject);
  };
  const deliveries = receivers.map((config) => ({
    config,
    delivery: createDelivery(config, {
      receiver: createReceiver(config, clock),
      clock,
      log,
      counters,
      isLasting,
    }),
  }));
  return {
    run: async (signal) => {
      if (deliveries.length === 0) return;
      const unsubscribe = feed.subscribe((event) => {
        const notification = notificationOf(event);
        if (notification === null) return;
        for (const { config, delivery } of deliveries) {
          const { events, namespaces } = config;
          const isWanted =
            events.includes(notification.event) &&
            (namespaces.length === 0 || namespaces.includes(notification.namespace));
          if (isWanted) delivery.add(notification);
        }
      });
      try {
        await Promise.all(deliveries.map(({ delivery }) => delivery.run(signal)));
      } finally {
        unsubscribe();
      }
    },
  };
}

/** Sends the notifications of one receiver, one request at a time. */
export interface Delivery {
  /** Queues a notification and returns at once. */
  readonly add: (notification: Notification) => void;
  /**
   * Sends until `signal` is aborted. Then it sends the waiting notifications once more, for at most 2 s. Never rejects.
   */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface DeliveryCounters {
  readonly count: (receiver: string, result: 'sent' | 'failed' | 'dropped', notifications: number) => void;
}

const MAX_PER_REQUEST = 50;
const ATTEMPTS = 4;
const FIRST_DELAY_MS = 1000;
const MAX_RETRY_AFTER_SECONDS = 60;
const LAST_REQUEST_MS = 2000;
/**
 * How long an alert lasts in Alertmanager unless it is sent again. A failure that continues is sent every 300 s, so two
 * of these attempts may fail.
 */
const ALERT_SECONDS = 900;
const MAX_ALERT_SECONDS = 24 * 3600;

export function createDelivery(
  config: ReceiverConfig,
  ports: {
    readonly receiver: Receiver;
    readonly clock: Clock;
    readonly log: Log;
    readonly counters: DeliveryCounters;
    /** Returns whether a failure continues, as far as this process knows. */
    readonly isLasting: (failure: Failure) => boolean;
  },
): Delivery {
  const { receiver, clock, log, counters } = ports;
  const { name, format } = config;
  const intervalMs = 60_000 / config.maxPerMinute;
  const queue = createNotificationQueue(format === 'alertmanager' ? ports.isLasting : null);
  /**
   * Returns the end time of alerts that are not sent again. Until then, `maxPerMinute` allows each failure to be sent
   * two more times.
   */
  const alertsUntil = (): Instant => {
    const refreshMs = Math.ceil(queue.lasting() / MAX_PER_REQUEST) * intervalMs;
    return addSeconds(clock.now(), Math.min(ALERT_SECONDS + (2 * refreshMs) / 1000, MAX_ALERT_SECONDS));
  };
  const bodyOf = (batch: readonly Notification[]): string =>
    writeBody(format, batch, { until: alertsUntil() });
  let nextRequestMs = -Infinity;
  let wake = new AbortController();
  let isFailing = false;

  /** Logs only the first failure of an outage and the recovery. */
  const report = (result: PostResult, notifications: number): void => {
    if (result.kind === 'sent') {
      if (isFailing) log.info('notifications are sent again', { receiver: name });
    } else if (!isFailing) {
      const { why, status } = result;
      log.warn('failed to send notifications', {
        receiver: name,
        why,
        notifications,
        ...(status === null ? {} : { status }),
      });
    }
    isFailing = result.kind !== 'sent';
  };

  const finish = (batch: readonly Notification[], result: PostResult): void => {
    if (result.kind === 'failed') queue.markLost(batch);
    counters.count(name, result.kind, batch.length);
    report(result, batch.length);
  };

  const send = async (batch: readonly Notification[], signal: AbortSignal): Promise<void> => {
    let delayMs = FIRST_DELAY_MS;
    for (let attempt = 1; ; attempt += 1) {
      nextRequestMs = clock.monotonicMs() + intervalMs;
      const result = await receiver.post(bodyOf(batch), { timeoutMs: config.timeoutSeconds * 1000, signal });
      if (result.kind === 'sent' || !result.mayRetry || attempt === ATTEMPTS) {
        finish(batch, result);
        return;
      }
      const askedMs = Math.min(result.retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS) * 1000;
      await sleep(clock, Math.max(askedMs, intervalMs, delayMs * (0.5 + clock.random())), signal);
      if (signal.aborted) {
        finish(batch, result);
        return;
      }
      delayMs *= 4;
    }
  };

  const sendDue = async (signal: AbortSignal): Promise<void> => {
    const dueMs = queue.dueMs();
    const nowMs = clock.monotonicMs();
    const waitMs = Math.max(dueMs ?? Infinity, nextRequestMs) - nowMs;
    if (waitMs > 0) {
      wake = new AbortController();
      // If nothing waits, the sleep lasts until `add` or the end of the service.
      await sleep(clock, Math.min(waitMs, LONGEST_TIMER_MS), wake.signal);
      return;
    }
    const batch = queue.take(nowMs, MAX_PER_REQUEST);
    if (batch.length > 0) await send(batch, signal);
  };

  return {
    add: (notification) => {
      const dropped = queue.add(notification, clock.monotonicMs());
      if (dropped > 0) counters.count(name, 'dropped', dropped);
      wake.abort();
    },
    run: async (signal) => {
      onAbort(signal, () => wake.abort());
      while (!signal.aborted) await sendDue(signal);
      const rest = queue.take(Infinity, MAX_PER_REQUEST);
      if (rest.length === 0) return;
      finish(rest, await receiver.post(bodyOf(rest), { timeoutMs: LAST_REQUEST_MS }));
    },
  };
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;
