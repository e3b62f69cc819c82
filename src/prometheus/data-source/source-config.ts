import type { TlsFiles } from '../../http/tls.js';

/** The kind of server, which determines the safety parameters of each query. */
export type Flavor = 'prometheus' | 'thanos' | 'mimir' | 'victoriametrics';

/** One data source of the service config, with all defaults. */
export interface SourceConfig {
  /** The name that documents use. A metric without a source uses `default`. */
  readonly name: string;
  /** At least one http or https URL. They are tried in this order. The path is a prefix of the API path. */
  readonly urls: readonly string[];
  /** The URL under which people open the UI of the server, without credentials. Unset: no links are shown. */
  readonly externalUrl?: string | undefined;
  readonly flavor: Flavor;
  /** Time limit of a query over all URLs. A query is also limited to half of the sync period. */
  readonly timeoutSeconds: number;
  readonly maxConcurrentQueries: number;
  /**
   * Limits on the number of queries of one namespace in a round, and on the seconds that they take. Unset: no limit.
   * See `QueryLimits`.
   */
  readonly maxQueriesPerNamespace?: number | undefined;
  readonly maxQuerySecondsPerNamespace?: number | undefined;
  /** See `AnswerLimits`. */
  readonly maxAnswerBytes?: number | undefined;
  readonly maxSeries?: number | undefined;
  /** The configured scrape interval of resource metrics: a sample is at most this old when the query is evaluated. */
  readonly scrapeIntervalSeconds: number;
  /**
   * A scale-down needs samples that are at most this old; 0: the age is not checked. Unset: the limit is derived from
   * the scrape interval and the range of the query.
   */
  readonly maxSampleAgeSeconds?: number;
  /** Sent with each request; may contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** The file is read again when it changes. */
  readonly bearerTokenFile: string | null;
  readonly basicAuth: BasicAuth | null;
  readonly signIn: SignInConfig | null;
  readonly tls: TlsFiles | null;
  /** Value of `$window` in resource queries. */
  readonly resourceWindowSeconds: number;
  /**
   * The scrape interval of the resource metrics, which determines `$window`. Null: the interval is not known yet, and
   * the default window is used. Unset: the config sets the window.
   */
  readonly learnedIntervalSeconds?: number | null;
  /** Maps resource names to PromQL with the variables `$namespaces` and `$window`. */
  readonly resourceQueries: Readonly<Record<string, string>>;
  /** Replaces these fields if the server turns out to be VictoriaMetrics; null: the config sets the flavor. */
  readonly ifVictoriaMetrics: Pick<SourceConfig, 'flavor' | 'resourceQueries' | 'onceQueries'> | null;
  /** Maps resource names to variants of the default queries that count a container with several series once. */
  readonly onceQueries: Readonly<Record<string, string>>;
  /** Maps resource names to the window in seconds of resource queries without `$window`, such as recording rules. */
  readonly resourceWindows?: Readonly<Record<string, number>>;
  /** Namespaces whose documents may query the source; empty: all. */
  readonly namespaces: readonly string[];
}

const LEAST_DEADLINE_SECONDS = 1;

/**
 * Returns the time limit of a query over all URLs of its source: the timeout of the source or half the period,
 * whichever is shorter, but at least 1 s.
 */
export function queryDeadlineSeconds(source: SourceConfig, periodSeconds: number): number {
  return Math.max(LEAST_DEADLINE_SECONDS, Math.min(source.timeoutSeconds, periodSeconds / 2));
}

interface BasicAuth {
  readonly username: string;
  /** The file is read again when it changes. */
  readonly passwordFile: string;
}

export type SignInConfig = OAuth2Config | SigV4Config | AzureConfig | GoogleConfig;

/** Client credentials grant of RFC 6749, section 4.4. */
export interface OAuth2Config {
  readonly way: 'oauth2';
  readonly tokenUrl: string;
  readonly clientId: string;
  /** The file is read again for each token. */
  readonly clientSecretFile: string;
  readonly scopes: readonly string[];
  /** Parameters of the token request, such as `audience`. */
  readonly endpointParams: Readonly<Record<string, string>>;
  readonly tls: TlsFiles | null;
}

/** Signs requests with AWS Signature Version 4. */
export interface SigV4Config {
  readonly way: 'sigv4';
  readonly region: string;
  readonly service: string;
  /** Role to assume with the credentials; null: the credentials sign the requests. */
  readonly roleArn: string | null;
  readonly profile: string | null;
  /** A file in the format of `aws configure`; null: the AWS library searches for one. */
  readonly credentialsFile: string | null;
}

/** Uses workload identity if the pod has a federated token, otherwise the managed identity of the virtual machine. */
export interface AzureConfig {
  readonly way: 'azure';
  readonly clientId: string | null;
  readonly tenantId: string | null;
  readonly cloud: 'public' | 'usgovernment' | 'china';
}

/** Uses the application default credentials of Google Cloud. */
interface GoogleConfig {
  readonly way: 'google';
}
