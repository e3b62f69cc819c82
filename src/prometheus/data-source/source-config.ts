import type { TlsFiles } from '../../http/tls.js';

/** The kind of server, which determines the safety parameters of each query. */
export type Flavor = 'prometheus' | 'thanos' | 'mimir' | 'victoriametrics';

/** One data source of the service config, with all defaults. */
export interface SourceConfig {
  /** Name in documents. A metric without a source uses `default`. */
  readonly name: string;
  /** http or https, at least one, tried in this order. The path is a prefix of the API path. */
  readonly urls: readonly string[];
  /** URL of the UI for people, without credentials. Unset: there are no links. */
  readonly externalUrl?: string | undefined;
  readonly flavor: Flavor;
  /** Time limit of a query over all urls. Half the sync period is another limit. */
  readonly timeoutSeconds: number;
  readonly maxConcurrentQueries: number;
  /** Limits the queries of one namespace in a round, and their seconds. Unset: no limits. See `QueryLimits`. */
  readonly maxQueriesPerNamespace?: number | undefined;
  readonly maxQuerySecondsPerNamespace?: number | undefined;
  /** See `AnswerLimits`. */
  readonly maxAnswerBytes?: number | undefined;
  readonly maxSeries?: number | undefined;
  /** Maximum age of a resource sample at the time of the query. */
  readonly scrapeIntervalSeconds: number;
  /** Maximum age of the newest samples for a scale-down; 0: not checked. Unset: follows from interval and range. */
  readonly maxSampleAgeSeconds?: number;
  /** Sent with each request; may contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Re-read when it changes. */
  readonly bearerTokenFile: string | null;
  readonly basicAuth: BasicAuth | null;
  readonly signIn: SignInConfig | null;
  readonly tls: TlsFiles | null;
  /** Value of `$window` in resource queries. */
  readonly resourceWindowSeconds: number;
  /**
   * The scrape interval of the resource series, which determines the window; null: not known yet, the default window
   * applies. Unset: the config sets the window.
   */
  readonly learnedIntervalSeconds?: number | null;
  /** PromQL with `$namespaces` and `$window`, by resource name. */
  readonly resourceQueries: Readonly<Record<string, string>>;
  /** Used if the server is VictoriaMetrics; null if the config sets the flavor. */
  readonly ifVictoriaMetrics: Pick<SourceConfig, 'flavor' | 'resourceQueries' | 'onceQueries'> | null;
  /** Variants of the default queries that count a container with several series once, by resource name. */
  readonly onceQueries: Readonly<Record<string, string>>;
  /** Seconds by resource name, for resource queries without `$window`, such as recording rules. */
  readonly resourceWindows?: Readonly<Record<string, number>>;
  /** Namespaces whose documents may query the source; empty: all. */
  readonly namespaces: readonly string[];
}

interface BasicAuth {
  readonly username: string;
  /** Re-read when it changes. */
  readonly passwordFile: string;
}

export type SignInConfig = OAuth2Config | SigV4Config | AzureConfig | GoogleConfig;

/** Client credentials of RFC 6749, section 4.4. */
export interface OAuth2Config {
  readonly way: 'oauth2';
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Re-read for each token. */
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
  /** A file in the format of `aws configure`; null: the AWS library searches for it. */
  readonly credentialsFile: string | null;
}

/** Workload identity if the pod has a federated token, otherwise the managed identity of the virtual machine. */
export interface AzureConfig {
  readonly way: 'azure';
  readonly clientId: string | null;
  readonly tenantId: string | null;
  readonly cloud: 'public' | 'usgovernment' | 'china';
}

/** Application default credentials. */
interface GoogleConfig {
  readonly way: 'google';
}
