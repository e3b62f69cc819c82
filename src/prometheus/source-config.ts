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
  readonly tls: SourceTls | null;
  /** The value of `$window` in resource queries. */
  readonly resourceWindowSeconds: number;
  /** Resource name -> PromQL with `$namespaces` and `$window`. */
  readonly resourceQueries: Readonly<Record<string, string>>;
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
