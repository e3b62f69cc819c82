import { isIP } from 'node:net';
import * as z from 'zod';
import { defaultsSchema } from '../scaler/schema.js';
import { labelName, seconds } from '../scaler/schema-parts.js';

const filePath = z.string().min(1).max(4096);

/** http or https, without user and password: those have fields of their own, which point to files. */
const url = z.string().refine(isPlainUrl, {
  error: 'must be an http or https URL without user, password, query and fragment',
  params: { code: 'wrong-url' },
});

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return (
    ['http:', 'https:'].includes(protocol) && [username, password, search, hash].every((part) => part === '')
  );
}

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: 'must be the name of a header' });

/** A header that ends its line would begin another one. */
const headerValue = z.string().regex(/^[^\r\n\0]*$/, { error: 'must be one line' });

const tls = z.strictObject({
  caFile: filePath.optional(),
  certFile: filePath.optional(),
  keyFile: filePath.optional(),
  serverName: z.string().min(1).optional(),
  insecureSkipVerify: z.boolean().optional(),
});

/** An id, a region, a name: no blank in it, so that none is sent by mistake. */
const word = z.string().regex(/^[\x21-\x7e]{1,256}$/, { error: 'must be text without blanks' });

/** The ways of signing in to a managed Prometheus; a data source has one at most. */
const signIn = {
  oauth2: z
    .strictObject({
      tokenUrl: url,
      clientId: z.string().min(1),
      clientSecretFile: filePath,
      scopes: z.array(word).optional(),
      endpointParams: z.record(z.string().min(1), z.string()).optional(),
      tls: tls.optional(),
    })
    .optional(),
  sigv4: z
    .strictObject({
      region: word,
      service: word.optional(),
      roleArn: word.optional(),
      profile: z.string().min(1).optional(),
      credentialsFile: filePath.optional(),
    })
    .optional(),
  azure: z
    .strictObject({
      clientId: word.optional(),
      tenantId: word.optional(),
      cloud: z.enum(['public', 'usgovernment', 'china']).optional(),
    })
    .optional(),
  google: z.strictObject({}).optional(),
};

const source = z.strictObject({
  urls: z.array(url).min(1).optional(),
  flavor: z.enum(['prometheus', 'thanos', 'mimir', 'victoriametrics']).optional(),
  timeoutSeconds: seconds(1, 300).optional(),
  maxConcurrentQueries: z.int().min(1).max(1000).optional(),
  scrapeIntervalSeconds: seconds(1, 3600).optional(),
  headers: z.record(headerName, headerValue).optional(),
  bearerTokenFile: filePath.optional(),
  basicAuth: z.strictObject({ username: z.string().min(1), passwordFile: filePath }).optional(),
  ...signIn,
  tls: tls.optional(),
  resourceWindowSeconds: seconds(1, 86_400).optional(),
  resourceQueries: z
    .strictObject({ cpu: z.string().min(1).optional(), memory: z.string().min(1).optional() })
    .optional(),
  resourceWindows: z
    .strictObject({ cpu: seconds(1, 86_400).optional(), memory: seconds(1, 86_400).optional() })
    .optional(),
  namespaces: z.array(labelName).optional(),
});

/** An address to listen on. A name would be one of several addresses. */
const address = z
  .string()
  .refine((text) => isIP(text) !== 0, { error: 'must be an IP address, such as 127.0.0.1 or ::' });

/** As a Host header has it, without a port; a star may stand for its first label. */
const hostName = z
  .string()
  .max(253)
  .regex(/^(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/, {
    error: 'must be a host name without a port',
  });

/** The service config; unknown fields are refused, and every field may be left out. */
export const serviceSchema = z.strictObject({
  prometheus: z.record(labelName, source).optional(),
  recoveryHoldMaxSeconds: seconds(0, 86_400).optional(),
  kubernetes: z
    .strictObject({
      namespaces: z.array(labelName).optional(),
      kubeconfig: filePath.optional(),
      context: z.string().min(1).optional(),
      url: url.optional(),
    })
    .optional(),
  scalers: z
    .strictObject({ paths: z.array(filePath).optional(), customResources: z.boolean().optional() })
    .optional(),
  server: z
    .strictObject({
      host: address.optional(),
      port: z.int().min(0).max(65_535).optional(),
      allowedHosts: z.array(hostName).max(100).optional(),
    })
    .optional(),
  state: z.strictObject({ enabled: z.boolean().optional() }).optional(),
  leaderElection: z
    .strictObject({
      enabled: z.boolean().optional(),
      leaseDurationSeconds: seconds(1, 3600).optional(),
      renewDeadlineSeconds: seconds(1, 3600).optional(),
      retryPeriodSeconds: seconds(1, 3600).optional(),
    })
    .optional(),
  defaults: defaultsSchema.optional(),
  log: z
    .strictObject({
      level: z.enum(['debug', 'info', 'warn', 'error']).optional(),
      format: z.enum(['json', 'text']).optional(),
    })
    .optional(),
});

/** A service config that the schema accepts, as written. */
export type ServiceInput = z.infer<typeof serviceSchema>;
export type SourceInput = z.infer<typeof source>;
