import { createReceiver, type PostFailure } from '../../notifications/post.js';
import type { ReceiverConfig } from '../../notifications/notification.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { type DoctorContext, REQUEST_MS } from './context.js';

/** Reads the files of each receiver and sends a GET request. A real notification could page the person on call. */
export async function checkNotifications({
  config,
  clock,
  signal,
}: DoctorContext): Promise<readonly CheckResult[]> {
  return Promise.all(
    Object.values(config.notifications).map(async (receiver) => {
      const make = resultsOf('notifications', `receiver ${receiver.name}`);
      const result = await createReceiver(receiver, clock).probe({ timeoutMs: REQUEST_MS, signal });
      if (result.kind === 'sent') return make.ok('the receiver can be reached');
      const status = result.status === null ? '' : ` (status ${result.status})`;
      return make.failed(
        `the receiver cannot be reached: ${result.why}${status}`,
        fixFor(result.why, receiver),
      );
    }),
  );
}

function fixFor(why: PostFailure, { name, urlFile }: ReceiverConfig): string {
  const path = `notifications.${name}`;
  const url = `${path}.${urlFile === null ? 'url' : 'urlFile'}`;
  switch (why) {
    case 'credentials':
      return `put an http or https URL of one line into the file of ${url}, and check the files of bearerTokenFile and tls`;
    case 'rejected':
    case 'redirect':
      return `correct the URL of ${url}, or the token of ${path}.bearerTokenFile`;
    case 'connection':
    case 'timeout':
    case 'canceled':
      return `check host and port of ${url}, ${path}.tls, and the egress rules of the NetworkPolicy`;
    case 'rate limited':
    case 'server error':
      return `check the log of the receiver; ${path}.maxPerMinute limits the requests`;
    default:
      return why satisfies never;
  }
}
