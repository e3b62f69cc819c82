/** One data source, every default filled in. The same shape as the Prometheus client's own settings. */
export interface SourceConfig {
  readonly name: string;
  readonly urls: readonly string[];
  readonly flavor: 'prometheus' | 'thanos' | 'mimir' | 'victoriametrics';
  readonly timeoutSeconds: number;
  readonly maxConcurrentQueries: number;
  readonly scrapeIntervalSeconds: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bearerTokenFile: string | null;
  readonly basicAuth: { readonly username: string; readonly passwordFile: string } | null;
  readonly tls: {
    readonly caFile: string | null;
    readonly certFile: string | null;
    readonly keyFile: string | null;
    readonly serverName: string | null;
    readonly insecureSkipVerify: boolean;
  } | null;
  readonly resourceWindowSeconds: number;
  readonly resourceQueries: Readonly<Record<string, string>>;
  /** The namespaces whose documents may ask it; empty: all. */
  readonly namespaces: readonly string[];
}

/** How the cluster is reached, and which part of it is ours. */
export interface KubernetesConfig {
  /** The only namespaces that are read and written; empty: all. */
  readonly namespaces: readonly string[];
  readonly kubeconfig: string | null;
  readonly context: string | null;
  readonly url: string | null;
}

/** The service config with every default filled in. Frozen. */
export interface ServiceConfig {
  /** By name; `default` is always there. */
  readonly prometheus: Readonly<Record<string, SourceConfig>>;
  readonly recoveryHoldMaxSeconds: number;
  readonly kubernetes: KubernetesConfig;
  /** Absolute. */
  readonly scalers: { readonly paths: readonly string[] };
  readonly server: { readonly port: number };
  /** Any field of a document's `spec`, for all documents. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly format: 'json' | 'text' };
}
