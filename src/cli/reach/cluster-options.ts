import type { ServiceConfig } from '../../config/resolve-service-config.js';

/** Options that select the API server. */
export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** The address of the API server. */
  readonly url?: string;
}

/**
 * Replaces the API server of the config by the one of the command line. A kubeconfig or context of the command line also
 * replaces `kubernetes.url`, and a kubeconfig replaces `kubernetes.context`.
 */
export function withCluster(
  config: ServiceConfig,
  { kubeconfig, context, url }: ClusterOptions,
): ServiceConfig {
  const { kubernetes } = config;
  const isOtherFile = kubeconfig !== undefined;
  const isOtherContext = isOtherFile || context !== undefined;
  return {
    ...config,
    kubernetes: {
      ...kubernetes,
      kubeconfig: kubeconfig ?? kubernetes.kubeconfig,
      context: context ?? (isOtherFile ? null : kubernetes.context),
      url: url ?? (isOtherContext ? null : kubernetes.url),
    },
  };
}

/** Returns the connection settings of the config. Unset fields are resolved like in kubectl. */
export function connectionSettings({ kubernetes: { kubeconfig, context, url } }: ServiceConfig): {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly url: string | undefined;
} {
  return { kubeconfig: kubeconfig ?? undefined, context: context ?? undefined, url: url ?? undefined };
}
