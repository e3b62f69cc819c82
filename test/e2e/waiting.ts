import type { Ability } from './abilities.js';

/** What only `npm run test:e2e` sets, once it has made a namespace: then the tests run on a real cluster. */
export const CLUSTER = clusterOf(process.env);

/** A cluster that the tests were given. */
export interface GivenCluster {
  /** The path of a kubeconfig. */
  readonly kubeconfig: string;
  /** The only namespace that is touched. */
  readonly namespace: string;
  /** What the kubeconfig may do beyond what every test needs. */
  readonly abilities: ReadonlySet<Ability>;
  /** Where the API server of the cluster reaches this machine, for a metrics API of the test's own; empty: metrics-server. */
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

/** A real cluster pulls images and starts pods in its own time: what is waited for may take so many times as long. */
const PATIENCE = CLUSTER === null ? 1 : 4;

/** Bringing Prometheus on a fresh machine is part of the first test's time. */
export const E2E_TIMEOUT_MS = 240_000 * PATIENCE;

/**
 * The first answer of `look` that is neither undefined nor false; throws when it does not come in time. `seconds` are
 * those of the simulator.
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

/** Real seconds: what is tested here lives in real time. */
export function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
