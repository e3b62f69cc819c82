import type { Ability } from './abilities.js';

/** Set only by `npm run test:e2e` after it has created a namespace: then the tests run on a real cluster. */
export const CLUSTER = clusterOf(process.env);

/** The cluster for the tests. */
export interface GivenCluster {
  /** The path of a kubeconfig. */
  readonly kubeconfig: string;
  /** The only namespace that is modified. */
  readonly namespace: string;
  /** Permissions of the kubeconfig that only some tests need. */
  readonly abilities: ReadonlySet<Ability>;
  /**
   * Address at which the API server of the cluster reaches this machine, for the test's own metrics API; empty:
   * metrics-server.
   */
  readonly metricsAddress: string;
}

function clusterOf(env: NodeJS.ProcessEnv): GivenCluster | null {
  const kubeconfig = env['PROMSCALER_E2E_KUBECONFIG'] ?? '';
  const namespace = env['PROMSCALER_E2E_NAMESPACE'] ?? '';
  if (kubeconfig === '' || namespace === '') return null;
  const abilities = (env['PROMSCALER_E2E_ABILITIES'] ?? '').split(',').filter((name) => name !== '');
  return {
    kubeconfig,
    namespace,
    abilities: new Set(abilities as Ability[]),
    metricsAddress: env['PROMSCALER_E2E_METRICS_ADDRESS'] ?? '',
  };
}

/** A real cluster pulls images and starts pods: waits may take this many times as long. */
const PATIENCE = CLUSTER === null ? 1 : 4;

/** Downloading Prometheus on a fresh machine counts toward the first test. */
export const E2E_TIMEOUT_MS = 240_000 * PATIENCE;

/**
 * Returns the first result of `look` that is neither undefined nor false; throws after the timeout, in `seconds` of the
 * simulator.
 */
export async function waitFor<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  options: { readonly what: string; readonly seconds?: number },
): Promise<T> {
  const { what, seconds = 60 } = options;
  const end = performance.now() + seconds * PATIENCE * 1000;
  for (;;) {
    const answer = await look();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > end) throw new Error(`waited ${seconds * PATIENCE} s in vain for ${what}`);
    await pause(0.1);
  }
}

/** Waits real seconds: these tests run in real time. */
export function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
