import * as z from 'zod';
import { labelName, seconds } from '../scaler/schema/field-types.js';
import {
  ANSWER_DEFAULTS,
  DEFAULT_SCRAPE_INTERVAL_SECONDS,
  SCRAPES_IN_WINDOW,
  windowOfInterval,
} from '../units/bounds.js';
import { RESOURCE_QUERIES } from './default-queries.js';
import { filePath, headerName, headerValue, url, word } from './service-field-types.js';

interface TlsTexts {
  readonly server: string;
  /** What an attacker can do while certificates are not verified. */
  readonly risk: string;
}

function tls({ server, risk }: TlsTexts) {
  const fields = z.strictObject({
    caFile: filePath.optional().meta({
      description: 'File with the trusted CA certificates. Default: the CA certificates of the system.',
    }),
    certFile: filePath.optional().meta({
      description: 'File with the client certificate. It requires the field keyFile.',
    }),
    keyFile: filePath.optional().meta({
      description: 'File with the key of the client certificate. It requires the field certFile.',
    }),
    serverName: z
      .string()
      .min(1)
      .optional()
      .meta({
        description: `Name that the certificate of the ${server} must have. Default: the host of the URL.`,
      }),
    insecureSkipVerify: z
      .boolean()
      .default(false)
      .meta({
        description: `Skip certificate verification. Insecure: an attacker on the network can ${risk}.`,
      }),
  });
  return fields.optional().meta({ description: `TLS settings for requests to the ${server}.` });
}

export const receiverTls = tls({ server: 'receiver', risk: 'read the notifications and the token' });

const oauth2 = z.strictObject({
  tokenUrl: url.meta({ description: 'URL of the token endpoint.' }),
  clientId: z.string().min(1).meta({
    description: 'Client ID. It is sent with the client secret by HTTP basic authentication.',
  }),
  clientSecretFile: filePath.meta({
    description: 'File with the client secret. The file is read again for each token.',
  }),
  scopes: z.array(word).default([]).meta({ description: 'Scopes to request.' }),
  endpointParams: z.record(z.string().min(1), z.string()).default({}).meta({
    description: 'Additional parameters for the token endpoint, such as audience.',
  }),
  tls: tls({ server: 'token endpoint', risk: 'read the client secret' }),
});

const sigv4 = z.strictObject({
  region: word.meta({ description: 'AWS region of the workspace.' }),
  service: word.default('aps').meta({
    description: 'Name of the AWS service in the signature.',
  }),
  roleArn: word.optional().meta({ description: 'ARN of a role to assume.' }),
  profile: z.string().min(1).optional().meta({
    description: 'Profile in the credentials file. Default: the profile named default.',
  }),
  credentialsFile: filePath.optional().meta({
    description:
      'Credentials file in the format of `aws configure`. The file is read again every five minutes. Default: the AWS credential provider chain.',
  }),
});

const azure = z.strictObject({
  clientId: word.optional().meta({
    description:
      'Client ID of the identity. Default: $AZURE_CLIENT_ID, otherwise the only identity of the machine.',
  }),
  tenantId: word.optional().meta({ description: 'Tenant ID. Default: $AZURE_TENANT_ID.' }),
  cloud: z.enum(['public', 'usgovernment', 'china']).default('public').meta({
    description: 'Azure cloud.',
  }),
});

/** How to authenticate at managed Prometheus services. service-rules.ts allows one method per data source. */
const signIn = {
  oauth2: oauth2.optional().meta({
    description:
      'Authenticate by OAuth 2.0 client credentials (RFC 6749). The token is renewed before it expires.',
  }),
  sigv4: sigv4.optional().meta({ description: 'Sign requests with AWS Signature Version 4.' }),
  azure: azure.optional().meta({ description: 'Authenticate by a token of Microsoft Entra ID.' }),
  google: z.strictObject({}).optional().meta({
    description: 'Authenticate by the application default credentials of Google Cloud.',
  }),
};

const basicAuth = z.strictObject({
  username: z.string().min(1).meta({ description: 'User name.' }),
  passwordFile: filePath.meta({
    description: 'File with the password. The file is read again when it changes.',
  }),
});

const resourceQueries = z.strictObject({
  cpu: z.string().min(1).optional().meta({
    description:
      'Query of the CPU usage in cores by namespace, pod and container. With VictoriaMetrics, the default is a different query.',
    default: RESOURCE_QUERIES.cpu,
  }),
  memory: z.string().min(1).optional().meta({
    description: 'Query of the memory usage in bytes by namespace, pod and container.',
    default: RESOURCE_QUERIES.memory,
  }),
});

const resourceWindows = z.strictObject({
  cpu: seconds(1, 86_400).optional().meta({
    description: 'Range of the CPU query. Default: the largest range in the query.',
  }),
  memory: seconds(1, 86_400).optional().meta({
    description: 'Range of the memory query. Default: the largest range in the query.',
  }),
});

/** The default of `flavor`, unless the server turns out to be VictoriaMetrics. */
export const DEFAULT_FLAVOR = 'prometheus';

/** The window of resource queries until the scrape interval is known. */
export const DEFAULT_WINDOW_SECONDS = 120;

export const source = z.strictObject({
  urls: z.array(url).min(1).default(['http://prometheus:9090']).meta({
    description:
      'URLs of servers with the same data. If a server fails, its queries are sent to the next server.',
  }),
  externalUrl: url.optional().meta({
    description:
      'URL of the Prometheus UI in a browser, for links from the dashboard and `explain` to the queries of a scaler. Default: no links.',
  }),
  flavor: z.enum(['prometheus', 'thanos', 'mimir', 'victoriametrics']).optional().meta({
    description:
      'Kind of server. This field determines the parameters that prevent partial responses, and the default CPU query. If this field is unset, VictoriaMetrics is detected by its responses.',
    default: DEFAULT_FLAVOR,
  }),
  timeoutSeconds: seconds(1, 300).default(10).meta({
    description: 'Timeout of one query.',
  }),
  maxConcurrentQueries: z.int().min(1).max(1000).default(10).meta({
    description: 'Maximum number of concurrent queries.',
  }),
  maxQueriesPerNamespace: z.int().min(1).max(100_000).optional().meta({
    description:
      'Maximum number of distinct queries of one namespace in a round. Further queries fail without being sent. Resource queries do not count, because one query serves all namespaces. Default: no limit.',
  }),
  maxQuerySecondsPerNamespace: z.int().min(1).max(100_000).optional().meta({
    description:
      'Maximum total duration in seconds of the queries of one namespace in a round. Further queries fail without being sent, and the excess is deducted from the next rounds. Default: no limit.',
  }),
  maxAnswerBytes: z.int().min(65_536).max(268_435_456).default(ANSWER_DEFAULTS.maxAnswerBytes).meta({
    description:
      'Maximum size of an answer in bytes, after decompression. A larger answer is rejected while it is received. The total size of all answers in progress may be three times this size.',
  }),
  maxSeries: z.int().min(1).max(1_000_000).default(ANSWER_DEFAULTS.maxSeries).meta({
    description: 'Maximum number of series in an answer. An answer with more series is rejected.',
  }),
  scrapeIntervalSeconds: seconds(1, 3600).optional().meta({
    description:
      'Scrape interval of the server in seconds. The interval determines the maximum age of samples in resource queries, and how long the server must be unavailable before scale-down is held.',
    default: DEFAULT_SCRAPE_INTERVAL_SECONDS,
  }),
  maxSampleAgeSeconds: seconds(0, 86_400).optional().meta({
    description:
      'Maximum age in seconds of the newest samples that may cause a scale-down. With 0, the age is not checked. Default: computed from the scrape interval and the range of each selector.',
  }),
  headers: z.record(headerName, headerValue).default({}).meta({
    description: 'HTTP headers to send with each query, such as X-Scope-OrgID.',
  }),
  bearerTokenFile: filePath.optional().meta({
    description: 'File with a bearer token. The file is read again when it changes.',
  }),
  basicAuth: basicAuth.optional().meta({ description: 'Authenticate by user name and password.' }),
  ...signIn,
  tls: tls({ server: 'server', risk: 'forge metrics' }),
  resourceWindowSeconds: seconds(1, 86_400)
    .optional()
    .meta({
      description: `Range of resource queries ($window) in seconds, at least ${SCRAPES_IN_WINDOW} scrape intervals. Default: ${SCRAPES_IN_WINDOW} measured scrape intervals, and at least ${windowOfInterval(0)}. Before the interval is measured, the default is ${SCRAPES_IN_WINDOW} times \`scrapeIntervalSeconds\`, or ${DEFAULT_WINDOW_SECONDS} if \`scrapeIntervalSeconds\` is unset.`,
    }),
  resourceQueries: resourceQueries.optional().meta({
    description: 'Queries for Resource and ContainerResource metrics. Variables: $namespaces and $window.',
  }),
  resourceWindows: resourceWindows.optional().meta({
    description: 'Ranges in seconds of resource queries without $window, such as those of recording rules.',
  }),
  namespaces: z.array(labelName).default([]).meta({
    description: 'Namespaces whose documents may use the data source. An empty list allows all namespaces.',
  }),
});

export type SourceInput = z.input<typeof source>;
