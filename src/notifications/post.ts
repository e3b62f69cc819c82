import { Agent as HttpAgent } from 'node:http';
import { failureWithoutAnswer, sendHttp, withoutTrailingSlashes } from '../http/http-client.js';
import { createSecretFile, CredentialError } from '../http/credentials.js';
import { createTlsAgent } from '../http/tls.js';
import { type Clock, withDeadline } from '../units/clock.js';
import { type ReceiverConfig, textOf, type Notification } from './notification.js';
import { addSeconds, formatInstant, type Instant, latest } from '../units/time.js';

/** Why a request failed. These fixed values contain no part of the URL, the token or the response. */
export type PostFailure =
  | 'credentials'
  | 'connection'
  | 'timeout'
  | 'canceled'
  | 'rate limited'
  | 'server error'
  | 'redirect'
  | 'rejected';

export type PostResult =
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'failed';
      readonly why: PostFailure;
      readonly status: number | null;
      readonly mayRetry: boolean;
      readonly retryAfterSeconds: number | null;
    };

export interface Receiver {
  /** Sends a JSON body. Never throws. */
  readonly post: (body: string, options: RequestLimits) => Promise<PostResult>;
  /**
   * Sends a GET request to check whether the receiver is reachable. For receivers other than Alertmanager, a 4xx other
   * than 408 and 429 is a success. Never throws.
   */
  readonly probe: (options: RequestLimits) => Promise<PostResult>;
}

interface RequestLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

const ALERTS_PATH = '/api/v2/alerts';
const STATUS_PATH = '/api/v2/status';

/**
 * Creates the client of a receiver. It allows only http and https, and ignores variables such as HTTPS_PROXY. It
 * follows no redirects, because a redirect would send the token to another server. It reads secret files again when
 * they change, and does not read the body of a response.
 */
export function createReceiver(config: ReceiverConfig, clock: Clock): Receiver {
  const httpAgent = new HttpAgent({ keepAlive: false });
  const httpsAgent = createTlsAgent(config.tls, clock);
  const urlFile = config.urlFile === null ? null : createSecretFile({ path: config.urlFile, clock });
  const tokenFile =
    config.bearerTokenFile === null ? null : createSecretFile({ path: config.bearerTokenFile, clock });

  const exchange = async (
    request: { readonly method: 'GET' | 'POST'; readonly path: string; readonly body: string | null },
    signal: AbortSignal,
  ): Promise<PostResult> => {
    const base = urlFile === null ? (config.url ?? '') : await urlFile.read();
    if (!isHttpUrl(base)) throw new CredentialError('the file of urlFile has no http or https URL');
    const token = (await tokenFile?.read()) ?? null;
    const response = await sendHttp({
      method: request.method,
      url: config.format === 'alertmanager' ? alertmanagerUrl(base, request.path) : base,
      body: request.body,
      headers: {
        'User-Agent': 'promscaler',
        ...(request.body === null ? {} : { 'Content-Type': 'application/json' }),
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      },
      signal,
      agents: { httpAgent, httpsAgent: await httpsAgent() },
    });
    // The body is not read. If there were no listener, an error of the body would end the process.
    response.on('error', () => undefined);
    response.destroy();
    return judge(response.statusCode ?? 0, response.headers['retry-after']);
  };

  const send = (
    request: Parameters<typeof exchange>[0],
    { timeoutMs, signal: parent }: RequestLimits,
  ): Promise<PostResult> =>
    withDeadline(clock, { ms: timeoutMs, parent }, async (signal) => {
      try {
        return await exchange(request, signal);
      } catch (error) {
        if (error instanceof CredentialError) return failed('credentials', { mayRetry: true });
        const { reason } = failureWithoutAnswer(error, signal);
        return failed(reason === 'timeout' || reason === 'canceled' ? reason : 'connection', {
          mayRetry: true,
        });
      }
    });

  return {
    post: (body, limits) => send({ method: 'POST', path: ALERTS_PATH, body }, limits),
    probe: async (limits) => {
      const result = await send({ method: 'GET', path: STATUS_PATH, body: null }, limits);
      // A webhook that accepts only POST may reject this GET. Alertmanager has a status page and must not reject it.
      const isExpected =
        result.kind === 'failed' && result.why === 'rejected' && config.format !== 'alertmanager';
      return isExpected ? { kind: 'sent' } : result;
    },
  };
}

/** Returns whether a string is a URL on one line with http or https. */
function isHttpUrl(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
}

/** Returns a URL of Alertmanager. `base` is the URL of the server with its prefix, or the URL of its API. */
function alertmanagerUrl(base: string, path: string): string {
  const url = new URL(base);
  const prefix = withoutTrailingSlashes(url.pathname).replace(/\/api\/v2(\/alerts)?$/, '');
  url.pathname = `${prefix}${path}`;
  return url.href;
}

function judge(status: number, retryAfter: string | undefined): PostResult {
  if (status >= 200 && status < 300) return { kind: 'sent' };
  if (status < 400) return failed('redirect', { status, mayRetry: false });
  if (status === 429) return failed('rate limited', { status, mayRetry: true, retryAfter });
  if (status === 408) return failed('timeout', { status, mayRetry: true });
  if (status >= 500) return failed('server error', { status, mayRetry: true, retryAfter });
  return failed('rejected', { status, mayRetry: false });
}

function failed(
  why: PostFailure,
  of: { readonly mayRetry: boolean; readonly status?: number; readonly retryAfter?: unknown },
): PostResult {
  const { mayRetry, status = null, retryAfter } = of;
  const isSeconds = typeof retryAfter === 'string' && /^\d{1,6}$/.test(retryAfter);
  return { kind: 'failed', why, status, mayRetry, retryAfterSeconds: isSeconds ? Number(retryAfter) : null };
}

/** Returns the JSON body for at least one notification. `alerts.until`: when an alert ends unless it is sent again. */
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
 * Escapes text for chats. Otherwise a message could mention a channel, or contain a link with another text:
 * `<!channel>` and `<URL|TEXT>` in Slack; `@all`, `@here` and `[TEXT](URL)` in Mattermost and Rocket.Chat. `@` becomes
 * a fullwidth sign, because the escape for Mattermost and Rocket.Chat would be visible in Slack.
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
/** How long the alert of a recommendation lasts: about until the next nightly back-test. */
const RECOMMENDATION_SECONDS = 86_400;

/**
 * Returns the alert for a notification. The start and the end of an alert have the same labels, because Alertmanager
 * identifies an alert by its labels. Source: postableAlert of the API v2 of Alertmanager.
 */
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
  if (notification.event === 'recommendation')
    return {
      labels: { alertname: 'PromscalerRecommendation', severity: 'info', ...labels },
      annotations,
      startsAt,
      endsAt: formatInstant(addSeconds(at, RECOMMENDATION_SECONDS)),
    };
  const { subject, failing } = notification;
  return {
    labels: { alertname: 'PromscalerFailure', severity: 'warning', ...labels, subject },
    annotations,
    // At the end of an alert, `startsAt` is omitted: Alertmanager keeps the start that it knows. If `endsAt` were
    // omitted, its `resolve_timeout` would apply.
    ...(failing ? { startsAt } : {}),
    endsAt: failing ? formatInstant(latest(until, addSeconds(at, 1))) : startsAt,
  };
}
