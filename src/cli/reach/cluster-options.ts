import type { ServiceConfig } from '../../config/resolve-service-config.js';

/** How a command line says where the API server is. */
export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** The address of the API server. */
  readonly url?: string;
}

/**
 * The config with the API server that the command line names. A file or a context of the command line comes with its
 * own address; what is not named stays as it was.
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

/** The settings of a connection; what is not named is looked for as kubectl does. */
export function connectionSettings({ kubernetes: { kubeconfig, context, url } }: ServiceConfig): {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly url: string | undefined;
} {
  return { kubeconfig: kubeconfig ?? undefined, context: context ?? undefined, url: url ?? undefined };
}
