import type { EventFeed } from '../telemetry/event-feed.js';
import type { Ledger } from '../telemetry/ledger.js';
import { isSubjectFailing } from '../telemetry/service-events.js';
import type { Clock } from '../units/clock.js';
import type { Log } from '../units/log.js';
import { createDelivery } from './delivery.js';
import type { DeliveryCounters } from './delivery.js';
import { notificationOf, type Failure, type ReceiverConfig } from './notification.js';
import { createReceiver } from './post.js';

interface Notifier {
  /** Sends notifications until `signal` is aborted, and then for at most 2 s more. Never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * Creates a notifier for the events in `feed`. Only a replica that decides a scaler has its events, so only the leader,
 * or with sharding the owner of the scaler, notifies. A decision never waits, because the feed only adds the event to a
 * queue in memory.
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
