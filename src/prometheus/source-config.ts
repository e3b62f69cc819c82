/** Which server answers: it settles the safety parameters that go with each query. */
export type Flavor = 'prometheus' | 'thanos' | 'mimir' | 'victoriametrics';

/** One data source of the service config, every default filled in. */
export interface SourceConfig {
  /** What documents call it; `default` is asked where a metric names none. */
  readonly name: string;
  /** http or https, at least one, tried in this order. A path is a prefix of the API's. */
  readonly urls: readonly string[];
  readonly flavor: Flavor;
  /** The longest a query may take, over all urls; half a sync period is the other bound. */
  readonly timeoutSeconds: number;
  readonly maxConcurrentQueries: number;
  /** How old a resource sample may be when it is asked for. */
  readonly scrapeIntervalSeconds: number;
  /** Sent with each request; may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Re-read when it changes. */
  readonly bearerTokenFile: string | null;
  readonly basicAuth: BasicAuth | null;
  /** How a managed Prometheus is signed in to. */
  readonly signIn: SignInConfig | null;
  readonly tls: SourceTls | null;
  /** The value of `$window` in resource queries. */
  readonly resourceWindowSeconds: number;
  /** Resource name -> PromQL with `$namespaces` and `$window`. */
  readonly resourceQueries: Readonly<Record<string, string>>;
  /** What takes its place where the server turns out to be a VictoriaMetrics; null where the flavor is written. */
  readonly ifVictoriaMetrics: Pick<SourceConfig, 'flavor' | 'resourceQueries' | 'onceQueries'> | null;
  /** Resource name -> the form of its default query that counts a container once that is in the data more than once. */
  readonly onceQueries: Readonly<Record<string, string>>;
  /** Resource name -> seconds, for a resource query without `$window`, such as a recording rule. */
  readonly resourceWindows?: Readonly<Record<string, number>>;
  /** The namespaces whose documents may ask it; empty: all. */
  readonly namespaces: readonly string[];
}

export interface BasicAuth {
  readonly username: string;
  /** Re-read when it changes. */
  readonly passwordFile: string;
}

/** Files are re-read when they change; one that cannot be read or used keeps the last good one. */
export interface SourceTls {
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
  readonly serverName: string | null;
  readonly insecureSkipVerify: boolean;
}

/** One way of signing in, with what it needs. */
export type SignInConfig = OAuth2Config | SigV4Config | AzureConfig | GoogleConfig;

/** Client credentials of RFC 6749, section 4.4. */
export interface OAuth2Config {
  readonly way: 'oauth2';
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Read anew for each token. */
  readonly clientSecretFile: string;
  readonly scopes: readonly string[];
  /** Sent along with the request for a token, `audience` for one. */
  readonly endpointParams: Readonly<Record<string, string>>;
  /** Of the token endpoint. */
  readonly tls: SourceTls | null;
}

/** Requests signed with AWS Signature Version 4. */
export interface SigV4Config {
  readonly way: 'sigv4';
  readonly region: string;
  readonly service: string;
  /** Assumed with the credentials found; null: those themselves sign. */
  readonly roleArn: string | null;
  readonly profile: string | null;
  /** A file as `aws configure` writes it; null: found by the library's own rules. */
  readonly credentialsFile: string | null;
}

/** Workload identity where a token of the cluster is given to the pod, else the managed identity of the machine. */
export interface AzureConfig {
  readonly way: 'azure';
  readonly clientId: string | null;
  readonly tenantId: string | null;
  readonly cloud: 'public' | 'usgovernment' | 'china';
}

/** Application default credentials. */
export interface GoogleConfig {
  readonly way: 'google';
}
