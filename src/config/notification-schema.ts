import * as z from 'zod';
import { labelName, seconds } from '../scaler/schema/field-types.js';
import { SERVICE_DEFAULTS } from './service-defaults.js';
import { filePath, url } from './service-field-types.js';
import { receiverTls } from './source-schema.js';

const kind = z.enum(['rescale', 'failure', 'recommendation']);

export const receiver = z.strictObject({
  format: z.enum(['json', 'slack', 'alertmanager']).optional().meta({
    description:
      'Body of a request. json: a list of events; slack: a message for an incoming webhook of Slack, Mattermost or Rocket.Chat; alertmanager: alerts for the API v2 of Alertmanager.',
    default: SERVICE_DEFAULTS.notificationFormat,
  }),
  url: url.optional().meta({
    description:
      'URL of the receiver, if it is not a secret. For alertmanager the URL of the server. Required unless urlFile is set.',
  }),
  urlFile: filePath.optional().meta({
    description:
      'File with the URL of the receiver, which is a secret if it contains a token, such as a webhook of Slack. It is read again when it changes.',
  }),
  bearerTokenFile: filePath.optional().meta({
    description: 'File with a bearer token. It is read again when it changes.',
  }),
  tls: receiverTls,
  events: z
    .array(kind)
    .min(1)
    .optional()
    .meta({
      description:
        'Events to send. rescale: a change of replicas; failure: a scaler fails, or recovers; recommendation: a nightly back-test recommends a change of the document.',
      default: [...SERVICE_DEFAULTS.notificationEvents],
    }),
  namespaces: z.array(labelName).optional().meta({
    description: 'Namespaces of the scalers whose events are sent. Empty: all.',
    default: [],
  }),
  timeoutSeconds: seconds(1, 60).optional().meta({
    description: 'Timeout of one request.',
    default: SERVICE_DEFAULTS.notificationTimeoutSeconds,
  }),
  maxPerMinute: z.int().min(1).max(600).optional().meta({
    description: 'Maximum number of requests per minute, retries included. A request has up to 50 events.',
    default: SERVICE_DEFAULTS.notificationsPerMinute,
  }),
});

export type ReceiverInput = z.infer<typeof receiver>;
