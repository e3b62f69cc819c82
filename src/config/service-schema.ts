import * as z from 'zod';
import { defaultsSchema } from '../scaler/schema/document-schema.js';
import { labelName, seconds } from '../scaler/schema/field-types.js';
import { address, filePath, hostName, labelKey, url } from './service-field-types.js';
import { source, receiverTls } from './source-schema.js';

const kind = z.enum(['rescale', 'failure', 'recommendation']);

export const receiver = z.strictObject({
  format: z.enum(['json', 'slack', 'alertmanager']).default('json').meta({
    description:
      'Format of the request body. json: a list of events; slack: a message for an incoming webhook of Slack, Mattermost or Rocket.Chat; alertmanager: alerts for the API v2 of Alertmanager.',
  }),
  url: url.optional().meta({
    description:
      'URL of the receiver. For the format alertmanager: URL of the Alertmanager server. Required unless urlFile is set.',
  }),
  urlFile: filePath.optional().meta({
    description:
      'File with the URL of the receiver. Use a file for a URL that contains a token, such as the URL of a Slack webhook. The file is read again when it changes.',
  }),
  bearerTokenFile: filePath.optional().meta({
    description: 'File with a bearer token. The file is read again when it changes.',
  }),
  tls: receiverTls,
  events: z.array(kind).min(1).default(['rescale', 'failure']).meta({
    description:
      'Events to send. rescale: a change of replicas; failure: a scaler fails, or recovers; recommendation: a nightly back-test recommends a change of the document.',
  }),
  namespaces: z.array(labelName).default([]).meta({
    description: 'Namespaces of the scalers whose events are sent. An empty list selects all namespaces.',
  }),
  timeoutSeconds: seconds(1, 60).default(10).meta({
    description: 'Timeout of one request.',
  }),
  maxPerMinute: z.int().min(1).max(600).default(30).meta({
    description:
      'Maximum number of requests per minute, including retries. A request contains up to 50 events.',
  }),
});

export type ReceiverInput = z.input<typeof receiver>;

const kubernetes = z.strictObject({
  namespaces: z.array(labelName).default([]).meta({
    description:
      'Namespaces to watch and scale. Documents of other namespaces are rejected. An empty list selects all namespaces.',
  }),
  kubeconfig: filePath.optional().meta({
    description: 'Path of a kubeconfig file, relative to the service config file.',
  }),
  context: z.string().min(1).optional().meta({
    description: 'Context of the kubeconfig. Default: its current context.',
  }),
  url: url.optional().meta({
    description:
      'URL of the API server; replaces the address of the kubeconfig or the pod. The URL must contain no credentials.',
  }),
});

const scalers = z.strictObject({
  paths: z.array(filePath).default(['scalers']).meta({
    description:
      'Files and directories with scaler documents, relative to the service config file. Changes apply without a restart.',
  }),
  customResources: z.boolean().default(false).meta({
    description:
      'Whether to also read scaler documents from Scaler objects in the cluster. This requires the CustomResourceDefinition.',
  }),
});

const auth = z.strictObject({
  bearerTokenFile: filePath.optional().meta({
    description:
      'File with the bearer token that clients of the API must send. The path is relative to the service config file. The token is read again when the file changes.',
  }),
  tokenReview: z.literal(true).optional().meta({
    description:
      'Authentication by TokenReview: the API server checks the bearer token of each client. A client sees the namespaces in which SubjectAccessReviews allow it to `get` `scalers.promscaler.dev`.',
  }),
});

const server = z.strictObject({
  host: address.optional().meta({
    description:
      'IP address to listen on. 0.0.0.0 and :: select all addresses. Default: all addresses in a pod, 127.0.0.1 elsewhere.',
  }),
  port: z.int().min(0).max(65_535).default(8080).meta({
    description: 'Port to listen on. The value 0 selects any free port.',
  }),
  allowedHosts: z.array(hostName).max(100).default([]).meta({
    description:
      'Additional host names to accept in requests, such as the host name of an Ingress; `*.example.com` matches any first label. IP addresses, names without a dot, names of Services that end in .svc or .svc.cluster.local, and the names of the API server are always allowed. Requests with other host names are rejected with status 421.',
  }),
  auth: auth.optional().meta({
    description:
      'Authentication of API clients. Exactly one of the two fields must be set. Authentication protects all paths below /api/v1, but not the probes, /metrics and the files of the dashboard. Default: every client may read everything.',
  }),
  peerKeyFile: filePath.optional().meta({
    description:
      'File with a key of at least 32 characters that all replicas share. The path is relative to the service config file. The key encrypts and authenticates requests between replicas, so that each replica can answer for all scalers. Each line of the file is a key: the first key is used for requests, and all keys are accepted. The file is read again when it changes. Default: replicas do not query each other.',
  }),
  dashboard: z.boolean().default(true).meta({
    description: 'Whether to serve the dashboard at `/`. The dashboard reads the API of the same port.',
  }),
  groupLabel: labelKey.optional().meta({
    description:
      'Label by which the dashboard can group scalers, such as `team` or `app.kubernetes.io/part-of`. The label is read from the metadata of each document. Default: no groups.',
  }),
  grafanaUrl: url.optional().meta({
    description:
      'URL of the Grafana dashboard of a scaler, such as `https://grafana.example.com/d/promscaler-scaler`. The page of a scaler links to it, with the variables `namespace` and `scaler`. Default: no link.',
  }),
});

const state = z.strictObject({
  enabled: z.boolean().optional().meta({
    description:
      'Whether to persist the state in the ConfigMaps promscaler-state-00 to -15 in the namespace of the service. Without persistence, stabilization windows restart with the process. Default: true in a pod, false elsewhere.',
  }),
});

const leaderElection = z.strictObject({
  enabled: z.boolean().optional().meta({
    description:
      'Whether to elect a leader. Disable leader election only if there is a single replica. Default: true in a cluster, false elsewhere.',
  }),
  leaseDurationSeconds: seconds(1, 3600).default(15).meta({
    description: 'Seconds without a renewal after which another replica may take over the Lease.',
  }),
  renewDeadlineSeconds: seconds(1, 3600).default(10).meta({
    description:
      'Seconds after which a leader that cannot renew the Lease stops leading. Must be less than leaseDurationSeconds.',
  }),
  retryPeriodSeconds: seconds(1, 3600).default(2).meta({
    description:
      'Seconds between attempts to acquire or renew the Lease. Must be less than renewDeadlineSeconds / 1.2.',
  }),
});

const sharding = z.strictObject({
  enabled: z.boolean().default(false).meta({
    description:
      'Whether to divide the scalers among all replicas, instead of electing one leader that scales all. Sharding requires leader election and persisted state, and enables both by default.',
  }),
});

const metrics = z.strictObject({
  detail: z.enum(['full', 'summary']).default('full').meta({
    description:
      'Series to expose for each scaler. full: all series; summary (for thousands of scalers): all series except values, targets and proposals of metrics, pods and the ends of limits. The charts of the dashboard need full.',
  }),
});

const record = z.strictObject({
  path: filePath.meta({
    description:
      'File to which the decisions are appended. The path is relative to the service config file, and the directory must exist. Older files are named PATH.1, PATH.2 and so on. Each replica needs its own file.',
  }),
  which: z.enum(['changes', 'all']).default('changes').meta({
    description:
      'Decisions to record. changes: decisions that change the replicas, and decisions whose change was held (not applied); all: the decisions of every round.',
  }),
  maxFileBytes: z
    .int()
    .min(1024 * 1024)
    .max(16 * 1024 * 1024 * 1024)
    .default(100 * 1024 * 1024)
    .meta({
      description:
        'Maximum size of a file in bytes. A new file is started before a line would exceed this size.',
    }),
  maxFiles: z.int().min(1).max(1000).default(5).meta({
    description: 'Maximum number of files. If there are more, the oldest file is deleted.',
  }),
});

const recommendations = z.strictObject({
  enabled: z.boolean().default(false).meta({
    description:
      'Whether to back-test each document every night and to report a change of its settings that would have saved pod-hours, or a forecast that would have prevented missing pods. The change is never applied automatically.',
  }),
  days: z.int().min(2).max(30).default(7).meta({
    description: 'Number of days of history that a back-test uses.',
  }),
  schedule: z.string().min(1).max(200).default('0 0 * * *').meta({
    description: 'Start of the nightly back-tests, as a cron expression of five fields.',
  }),
  timeZone: z.string().min(1).max(200).default('UTC').meta({
    description: 'IANA time zone of the schedule.',
  }),
  spreadMinutes: z.int().min(1).max(1440).default(360).meta({
    description:
      'Minutes after each start of the schedule during which back-tests may start, one at a time. The next night begins with the documents that were not back-tested.',
  }),
  cpuPercent: z.int().min(1).max(100).default(20).meta({
    description: 'CPU time that the back-tests may use, in percent of one core.',
  }),
  events: z.boolean().default(false).meta({
    description:
      'Whether to also write a Kubernetes Event for a recommended change that differs from the last recommended change.',
  }),
});

const log = z.strictObject({
  level: z.enum(['debug', 'info', 'warn', 'error']).default('info').meta({
    description: 'Minimum level of log messages.',
  }),
  format: z.enum(['json', 'text']).default('json').meta({
    description: 'json: one JSON object per line; text: human-readable lines.',
  }),
});

/** The sections that have defaults even if the config does not have the section. */
export const serviceSections = {
  kubernetes,
  scalers,
  server,
  metrics,
  leaderElection,
  sharding,
  recommendations,
  log,
};

export const serviceSchema = z
  .strictObject({
    prometheus: z
      .record(labelName, source.meta({ description: 'One data source.' }))
      .optional()
      .meta({
        description:
          'Data sources by name. Metrics without the field source use the data source named default.',
      }),
    recoveryHoldMaxSeconds: seconds(0, 86_400).default(900).meta({
      description: 'Maximum number of seconds for which scale-down is held after metrics have recovered.',
    }),
    kubernetes: kubernetes.optional().meta({
      description: 'Connection to the API server.',
    }),
    scalers: scalers.optional().meta({ description: 'Sources of the scaler documents.' }),
    server: server
      .optional()
      .meta({ description: 'HTTP server of promscaler, for probes, metrics, API and dashboard.' }),
    metrics: metrics.optional().meta({ description: 'Series of scalers at `/metrics`.' }),
    state: state.optional().meta({
      description: 'State that survives a restart: last changes, windows and changes in progress.',
    }),
    leaderElection: leaderElection.optional().meta({
      description:
        'Leader election by the Lease `promscaler` in the namespace of the service. Only the holder of the Lease scales.',
    }),
    sharding: sharding.optional().meta({
      description:
        'Sharding: division of the scalers among the replicas, with one Lease per replica. The durations of leaderElection also apply to these Leases.',
    }),
    defaults: defaultsSchema.optional().meta({
      description:
        'Default values for any field of spec in all documents. A value in a document takes precedence, key by key.',
    }),
    record: record.optional().meta({
      description:
        'Decision record: a file in which each line is the JSON of a decision with its snapshot and outcome, for explain --file and backtest --replay. Default: decisions are not recorded.',
    }),
    notifications: z
      .record(labelName, receiver.meta({ description: 'One receiver.' }))
      .optional()
      .meta({
        description:
          'Receivers of notifications about rescales and failures, by name, at most 10. A notification can be lost; for reliable alerts, use alerting rules on the metrics. Default: no receivers.',
      }),
    recommendations: recommendations.optional().meta({
      description:
        'Recommendations for the settings of the documents, from back-tests on the history of the last days.',
    }),
    log: log.optional().meta({ description: 'Log that is written to standard output.' }),
  })
  .meta({ title: 'promscaler service config' });

/** A valid service config, as it was written and without defaults. */
export type ServiceInput = z.input<typeof serviceSchema>;
