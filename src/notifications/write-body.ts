import { addSeconds, formatInstant, latest } from '../units/time.js';
import type { Instant } from '../units/time.js';
import { textOf } from './notification.js';
import type { Notification } from './notification.js';
import type { ReceiverConfig } from './receiver-config.js';

/**
 * Returns the JSON body of a request with at least one notification. `alerts`: when an alert ends unless it is sent
 * again.
 */
export function writeBody(
  format: ReceiverConfig['format'],
  notifications: readonly Notification[],
  alerts: { readonly until: Instant },
): string {
  switch (format) {
    case 'json':
      return JSON.stringify({ version: 1, events: notifications.map(jsonEvent) });
    case 'slack':
      return JSON.stringify({ text: notifications.map((one) => slackText(textOf(one))).join('\n') });
    case 'alertmanager':
      return JSON.stringify(notifications.map((one) => alert(one, alerts.until)));
    default:
      return format satisfies never;
  }
}

function jsonEvent(notification: Notification): unknown {
  const { at, name, ...fields } = notification;
  return { ...fields, scaler: name, at: formatInstant(at), text: textOf(notification) };
}

/**
 * Unescaped, a message could mention a channel or form a link with another text: in Slack by `<!channel>` and
 * `<URL|TEXT>`, in Mattermost and Rocket.Chat by `@all`, `@here` and `[TEXT](URL)`. Mattermost and Rocket.Chat have no
 * escape of `@` that Slack hides, so the fullwidth sign replaces it.
 */
function slackText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', '\uff20')
    .replaceAll(/\](?=[([:])/g, '] ');
}

const RESCALE_SECONDS = 300;

/** Source: postableAlert of the API v2 of Alertmanager. The start and the end of an alert have the same labels. */
function alert(notification: Notification, until: Instant): unknown {
  const { at, namespace, name } = notification;
  const labels = { namespace, scaler: name };
  const annotations = { summary: textOf(notification) };
  const startsAt = formatInstant(at);
  if (notification.event === 'rescale') {
    const { direction } = notification;
    return {
      labels: { alertname: 'PromscalerRescale', severity: 'info', ...labels, direction },
      annotations,
      startsAt,
      endsAt: formatInstant(addSeconds(at, RESCALE_SECONDS)),
    };
  }
  const { subject, failing } = notification;
  return {
    labels: { alertname: 'PromscalerFailure', severity: 'warning', ...labels, subject },
    annotations,
    // Alertmanager keeps the start of a known alert. Without an end, it would use its `resolve_timeout`.
    ...(failing ? { startsAt } : {}),
    endsAt: failing ? formatInstant(latest(until, addSeconds(at, 1))) : startsAt,
  };
}
