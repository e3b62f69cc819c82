import type { ReceiverConfig } from '../notifications/receiver-config.js';
import type { ReceiverInput } from './notification-schema.js';
import { resolveTls } from './resolve-tls.js';
import { SERVICE_DEFAULTS } from './service-defaults.js';

export function resolveReceiver(
  name: string,
  input: ReceiverInput,
  resolvePath: (path: string) => string,
): ReceiverConfig {
  const file = (path: string | undefined): string | null => (path === undefined ? null : resolvePath(path));
  return {
    name,
    format: input.format ?? SERVICE_DEFAULTS.notificationFormat,
    url: input.url ?? null,
    urlFile: file(input.urlFile),
    bearerTokenFile: file(input.bearerTokenFile),
    tls: resolveTls(input.tls, resolvePath),
    events: input.events ?? SERVICE_DEFAULTS.notificationEvents,
    namespaces: input.namespaces ?? [],
    timeoutSeconds: input.timeoutSeconds ?? SERVICE_DEFAULTS.notificationTimeoutSeconds,
    maxPerMinute: input.maxPerMinute ?? SERVICE_DEFAULTS.notificationsPerMinute,
  };
}
