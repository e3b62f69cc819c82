import { rescaleDirection, type Direction } from '../telemetry/cycle-record.js';
import type { NumberedEvent } from '../telemetry/event-feed.js';
import { cleanText } from '../units/clean-text.js';
import type { Instant } from '../units/time.js';
import type { TlsFiles } from '../http/tls.js';

interface CommonFields {
  /** An ID that is unique across processes. */
  readonly id: string;
  readonly at: Instant;
  readonly namespace: string;
  readonly name: string;
}

export type Rescale = CommonFields & {
  readonly event: 'rescale';
  readonly direction: Direction;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
};

export type Failure = CommonFields & {
  readonly event: 'failure';
  /** What fails: the type of a condition, `change` (of replicas), `ConflictingWriter`, or TYPE/IDENTITY of a metric. */
  readonly subject: string;
  /** False: the failure has ended. */
  readonly failing: boolean;
  readonly message: string;
};

type Recommended = CommonFields & {
  readonly event: 'recommendation';
  readonly message: string;
};

export type Notification = Rescale | Failure | Recommended;

const MAX_TEXT_LENGTH = 1024;

/**
 * Returns the notification for an event of the service. Null: there is none, for example for a reload or a held change.
 * A failed change has none either, because the condition AbleToScale reports its start and its end.
 */
export function notificationOf({ id, event }: NumberedEvent): Notification | null {
  if (event.type === 'reload') return null;
  const { at, namespace, name } = event;
  if (event.type === 'failure') {
    if (event.subject === 'change') return null;
    const { subject, failing, message } = event;
    return { id, at, namespace, name, event: 'failure', subject, failing, message: truncate(message) };
  }
  if (event.type === 'recommendation')
    return { id, at, namespace, name, event: 'recommendation', message: truncate(event.message) };
  const { from, to } = event.outcome;
  const direction = rescaleDirection(event.outcome);
  if (direction === null || from === null || to === null) return null;
  return {
    id,
    at,
    namespace,
    name,
    event: 'rescale',
    direction,
    from,
    to,
    reason: truncate(event.reason ?? ''),
  };
}

/** Returns a notification as one sentence for a person. */
export function textOf(notification: Notification): string {
  const scaler = `${notification.namespace}/${notification.name}`;
  if (notification.event === 'rescale') {
    const { from, to, reason } = notification;
    return `${scaler} scaled from ${from} to ${to}${reason === '' ? '' : `: ${reason}`}`;
  }
  if (notification.event === 'recommendation') return `${scaler} recommendation: ${notification.message}`;
  const { subject, failing, message } = notification;
  return `${scaler} ${failing ? 'failing' : 'recovered'}: ${subject}: ${message}`;
}

/** Removes line breaks, so that a message cannot imitate the line of another scaler, and limits its length. */
function truncate(message: string): string {
  const text = cleanText(message.replace(/\s+/g, ' '));
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH - 3)}...` : text;
}

/** A receiver of notifications, with defaults applied. */
export interface ReceiverConfig {
  readonly name: string;
  readonly format: 'json' | 'slack' | 'alertmanager';
  /** Exactly one of `url` and `urlFile` is set. A URL in a file is a secret. */
  readonly url: string | null;
  readonly urlFile: string | null;
  readonly bearerTokenFile: string | null;
  readonly tls: TlsFiles | null;
  readonly events: readonly Notification['event'][];
  /** The namespaces whose events are sent; empty: all. */
  readonly namespaces: readonly string[];
  readonly timeoutSeconds: number;
  /** Maximum number of requests. Each contains up to 50 events. */
  readonly maxPerMinute: number;
}
