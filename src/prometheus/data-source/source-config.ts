/** The kind of server, which determines the safety parameters of each query. */
export type Flavor = 'prometheus' | 'thanos' | 'mimir' | 'victoriametrics';

/** One data source of the service config, with all defaults. */
export interface SourceConfig {
  /** The name used in documents. A metric without a source uses `default`. */
  readonly name: string;
  /** http or https, at least one, tried in this order. The path is a prefix of the API. */
  readonly urls: readonly string[];
  readonly flavor: Flavor;
  /** The maximum time of a query over all urls. Half the sync period is a further limit. */
  readonly timeoutSeconds: number;
  readonly maxConcurrentQueries: number;
  /** The maximum age of a resource sample when it is queried. */
  readonly scrapeIntervalSeconds: number;
  /** Sent with each request; may contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Re-read when it changes. */
  readonly bearerTokenFile: string | null;
  readonly basicAuth: BasicAuth | null;
  /** The authentication for a managed Prometheus. */
  readonly signIn: SignInConfig | null;
  readonly tls: SourceTls | null;
  /** The value of `$window` in resource queries. */
  readonly resourceWindowSeconds: number;
  /** PromQL with `$namespaces` and `$window`, by resource name. */
  readonly resourceQueries: Readonly<Record<string, string>>;
  /** Replacements if the server turns out to be VictoriaMetrics; null if the config sets the flavor. */
  readonly ifVictoriaMetrics: Pick<SourceConfig, 'flavor' | 'resourceQueries' | 'onceQueries'> | null;
  /** The default queries in the form that counts a container with several series once, by resource name. */
  readonly onceQueries: Readonly<Record<string, string>>;
  /** Seconds by resource name, for resource queries without `$window`, such as recording rules. */
  readonly resourceWindows?: Readonly<Record<string, number>>;
  /** The namespaces whose documents may query the source; empty: all. */
  readonly namespaces: readonly string[];
}

interface BasicAuth {
  readonly username: string;
  /** Re-read when it changes. */
  readonly passwordFile: string;
}

/** Files are re-read when they change. An unreadable or invalid file keeps the last valid content. */
export interface SourceTls {
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
  readonly serverName: string | null;
  readonly insecureSkipVerify: boolean;
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
  /** For the token endpoint. */
  readonly tls: SourceTls | null;
}

/** Requests signed with AWS Signature Version 4. */
export interface SigV4Config {
  readonly way: 'sigv4';
  readonly region: string;
  readonly service: string;
  /** The role to assume with the credentials found; null: those credentials sign the requests. */
  readonly roleArn: string | null;
  readonly profile: string | null;
  /** A file in the format of `aws configure`; null: found by the rules of the AWS library. */
  readonly credentialsFile: string | null;
}

/** Workload identity if the pod has a token of the cluster, else the managed identity of the machine. */
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
