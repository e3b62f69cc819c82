import * as z from 'zod';
import { defaultsSchema } from '../scaler/schema/document-schema.js';
import { labelName, seconds } from '../scaler/schema/field-types.js';
import { SERVICE_DEFAULTS } from './service-defaults.js';
import { address, filePath, hostName, labelKey, url } from './service-field-types.js';
import { source, receiverTls } from './source-schema.js';

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

const kubernetes = z.strictObject({
  namespaces: z.array(labelName).optional().meta({
    description: 'Namespaces to watch and scale. Documents of other namespaces are rejected. Empty: all.',
    default: [],
  }),
  kubeconfig: filePath.optional().meta({
    description: 'Path of a kubeconfig file, relative to this file.',
  }),
  context: z.string().min(1).optional().meta({
    description: 'Context of the kubeconfig. Default: its current context.',
  }),
  url: url.optional().meta({ description: 'URL of the API server, without credentials.' }),
});

const scalers = z.strictObject({
  paths: z
    .array(filePath)
    .optional()
    .meta({
      description:
        'Files and directories with scaler documents, relative to this file. Changes apply without a restart.',
      default: [SERVICE_DEFAULTS.scalersPath],
    }),
  customResources: z.boolean().optional().meta({
    description:
      'Whether to read scaler documents from Scaler objects in the cluster, too. Requires the CustomResourceDefinition.',
    default: SERVICE_DEFAULTS.customResources,
  }),
});

const auth = z.strictObject({
  bearerTokenFile: filePath.optional().meta({
    description:
      'File with a bearer token that clients of the API must send, relative to this file. It is read again when it changes.',
  }),
  tokenReview: z.literal(true).optional().meta({
    description:
      'Checks the bearer token of each client with a TokenReview of the API server, and by SubjectAccessReviews which namespaces it may see: those in which it may `get` `scalers.promscaler.dev`.',
  }),
});

const server = z.strictObject({
  host: address.optional().meta({
    description:
      'IP address to listen on. 0.0.0.0 and :: are all addresses. Default: all addresses in a pod, 127.0.0.1 elsewhere.',
  }),
  port: z.int().min(0).max(65_535).optional().meta({
    description: 'Port to listen on. 0: any free port.',
    default: SERVICE_DEFAULTS.port,
  }),
  allowedHosts: z.array(hostName).max(100).optional().meta({
    description:
      'Additional host names to accept in requests, such as that of an Ingress; `*.example.com` matches any first label. IP addresses, names without a dot, names of Services that end in .svc or .svc.cluster.local, and the names of the API server are always allowed. Requests with other names are answered with status 421.',
    default: [],
  }),
  auth: auth.optional().meta({
    description:
      'Authentication of clients of the API, the pages below /api/v1: one of the two fields. Probes, /metrics and the files of the dashboard are not protected. Default: none, every client may read everything.',
  }),
  peerKeyFile: filePath.optional().meta({
    description:
      'File with a key of at least 32 characters that all replicas share, relative to this file. It encrypts and authenticates requests between replicas, so that each replica answers for all scalers. A file of several lines has several keys: the first one is used, all are accepted. It is read again when it changes. Default: none, replicas do not query each other.',
  }),
  dashboard: z.boolean().optional().meta({
    description: 'Whether to serve the dashboard at `/`. It reads the API of the same port.',
    default: SERVICE_DEFAULTS.dashboard,
  }),
  groupLabel: labelKey.optional().meta({
    description:
      'Label of the metadata of the documents, such as `team` or `app.kubernetes.io/part-of`, by which the dashboard can group scalers. Default: none.',
  }),
});

const state = z.strictObject({
  enabled: z.boolean().optional().meta({
    description:
      'Whether to persist the state in the ConfigMaps promscaler-state-00 to -15 of the namespace of the service. If not, stabilization windows restart with the process. Default: true in a pod, false elsewhere.',
  }),
});

const leaderElection = z.strictObject({
  enabled: z.boolean().optional().meta({
    description:
      'Whether to elect a leader. Set false only for a single replica. Default: true in a cluster, false elsewhere.',
  }),
  leaseDurationSeconds: seconds(1, 3600).optional().meta({
    description: 'Seconds without a renewal after which another replica may take over the Lease.',
    default: SERVICE_DEFAULTS.leaseDurationSeconds,
  }),
  renewDeadlineSeconds: seconds(1, 3600).optional().meta({
    description:
      'Seconds after which a leader that cannot renew the Lease stops leading. Must be less than leaseDurationSeconds.',
    default: SERVICE_DEFAULTS.renewDeadlineSeconds,
  }),
  retryPeriodSeconds: seconds(1, 3600).optional().meta({
    description:
      'Seconds between attempts to acquire or renew the Lease. Must be less than renewDeadlineSeconds / 1.2.',
    default: SERVICE_DEFAULTS.retryPeriodSeconds,
  }),
});

const sharding = z.strictObject({
  enabled: z.boolean().optional().meta({
    description:
      'Whether to divide the scalers among all replicas, instead of one leader that scales all. Requires leader election and persisted state, which are then enabled by default.',
    default: SERVICE_DEFAULTS.sharding,
  }),
});

const metrics = z.strictObject({
  detail: z.enum(['full', 'summary']).optional().meta({
    description:
      'summary: omits the values, targets and proposals of single metrics, the pods and the ends of limits, for thousands of scalers. The dashboard of a scaler needs full.',
    default: SERVICE_DEFAULTS.metricsDetail,
  }),
});

const record = z.strictObject({
  path: filePath.meta({
    description:
      'File to append the decisions to, relative to this file, in an existing directory. Older files are PATH.1, PATH.2 and so on. Each replica needs its own.',
  }),
  which: z.enum(['changes', 'all']).optional().meta({
    description:
      'changes: decisions that change the replicas, or that would if nothing held the change; all: the decisions of every round.',
    default: SERVICE_DEFAULTS.recordWhich,
  }),
  maxFileBytes: z
    .int()
    .min(1024 * 1024)
    .max(16 * 1024 * 1024 * 1024)
    .optional()
    .meta({
      description: 'Maximum size of a file in bytes. A new file is started before a line exceeds it.',
      default: SERVICE_DEFAULTS.recordMaxFileBytes,
    }),
  maxFiles: z.int().min(1).max(1000).optional().meta({
    description: 'Maximum number of files. The oldest is deleted.',
    default: SERVICE_DEFAULTS.recordMaxFiles,
  }),
});

const recommendations = z.strictObject({
  enabled: z.boolean().optional().meta({
    description:
      'Whether to back-test each document every night and to report a change of its settings that would have saved pod-hours. Nothing is applied.',
    default: SERVICE_DEFAULTS.recommendations,
  }),
  days: z.int().min(2).max(30).optional().meta({
    description: 'Days of history to back-test on.',
    default: SERVICE_DEFAULTS.recommendationDays,
  }),
  schedule: z.string().min(1).max(200).optional().meta({
    description: 'Start of the nightly back-tests, as a cron expression of five fields.',
    default: SERVICE_DEFAULTS.recommendationSchedule,
  }),
  timeZone: z.string().min(1).max(200).optional().meta({
    description: 'IANA time zone of the schedule.',
    default: SERVICE_DEFAULTS.recommendationTimeZone,
  }),
  spreadMinutes: z.int().min(1).max(1440).optional().meta({
    description:
      'The back-tests start one at a time within this many minutes after the start of the schedule. Documents that are not reached come first the next night.',
    default: SERVICE_DEFAULTS.recommendationSpreadMinutes,
  }),
  cpuPercent: z.int().min(1).max(100).optional().meta({
    description: 'CPU time that the back-tests may use, in percent of one core.',
    default: SERVICE_DEFAULTS.recommendationCpuPercent,
  }),
  events: z.boolean().optional().meta({
    description: 'Whether a recommended change that differs from the last one is also a Kubernetes Event.',
    default: SERVICE_DEFAULTS.recommendationEvents,
  }),
});

const log = z.strictObject({
  level: z.enum(['debug', 'info', 'warn', 'error']).optional().meta({
    description: 'Minimum level of log messages.',
    default: SERVICE_DEFAULTS.logLevel,
  }),
  format: z.enum(['json', 'text']).optional().meta({
    description: 'json: one JSON object per line; text: human-readable lines.',
    default: SERVICE_DEFAULTS.logFormat,
  }),
});

export const serviceSchema = z
  .strictObject({
    prometheus: z
      .record(labelName, source.meta({ description: 'One data source.' }))
      .optional()
      .meta({ description: 'Data sources by name. Metrics without a source use the one named default.' }),
    recoveryHoldMaxSeconds: seconds(0, 86_400).optional().meta({
      description: 'Maximum seconds for which scale-down is held after metrics recover.',
      default: SERVICE_DEFAULTS.recoveryHoldMaxSeconds,
    }),
    kubernetes: kubernetes.optional().meta({
      description:
        'Connection to the API server. Default: the service account of the pod, else $KUBECONFIG, else ~/.kube/config.',
    }),
    scalers: scalers.optional().meta({ description: 'Sources of the scaler documents.' }),
    server: server.optional().meta({ description: 'HTTP server of promscaler: probes, metrics, API.' }),
    metrics: metrics.optional().meta({ description: 'Series of scalers at `/metrics`.' }),
    state: state.optional().meta({
      description: 'State that survives a restart: last changes, windows, changes in progress.',
    }),
    leaderElection: leaderElection.optional().meta({
      description:
        'Leader election by the Lease `promscaler` in the namespace of the service: only its holder scales.',
    }),
    sharding: sharding.optional().meta({
      description:
        'Sharding: division of the scalers among the replicas, with one Lease per replica. The times of leaderElection apply.',
    }),
    defaults: defaultsSchema.optional().meta({
      description:
        'Defaults for all documents: any field of spec. Fields of a document take precedence, key by key.',
    }),
    record: record.optional().meta({
      description:
        'Decision record: each decision with its snapshot and outcome as a line of JSON, for explain --file and backtest --replay. Default: none.',
    }),
    notifications: z
      .record(labelName, receiver.meta({ description: 'One receiver.' }))
      .optional()
      .meta({
        description:
          'Receivers of notifications about rescales and failures, by name: at most 10. Best effort; alerts on the metrics are the reliable way. Default: none.',
      }),
    recommendations: recommendations.optional().meta({
      description: 'Recommendations for the settings of the documents, from back-tests on their last days.',
    }),
    log: log.optional().meta({ description: 'Log on standard output.' }),
  })
  .meta({ title: 'promscaler service config' });

/** A valid service config, as it was written and without defaults. */
export type ServiceInput = z.infer<typeof serviceSchema>;
