import type { ServiceConfig } from '../../config/resolve-service-config.js';

export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly url?: string;
}

/**
 * Command-line options override the config. A kubeconfig or context also overrides `kubernetes.url`, and a kubeconfig
 * overrides `kubernetes.context`.
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

/** Unset fields are resolved as in kubectl. */
export function connectionSettings({ kubernetes: { kubeconfig, context, url } }: ServiceConfig): {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly url: string | undefined;
} {
  return { kubeconfig: kubeconfig ?? undefined, context: context ?? undefined, url: url ?? undefined };
}
