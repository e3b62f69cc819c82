import { createCluster } from '../../src/kubernetes/cluster.js';
import { connectTo } from '../../src/kubernetes/access/connection.js';
import type { Facts, Log } from '../../src/units/log.js';
import { createTransport, type RequestReport } from '../../src/kubernetes/requests/transport.js';
import type { Cluster, KubernetesError } from '../../src/kubernetes/api/types.js';
import { KubernetesError as KubernetesErrorClass } from '../../src/kubernetes/api/types.js';
import type { TargetRef } from '../../src/scaler/spec.js';
import { eventually, ManualClock } from '../support/manual-clock.js';
import { FakeApiServer } from './fake-api-server.js';

export const WEB: TargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
export const PODS = '/api/v1/namespaces/shop/pods';
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/shop/deployments';
export const SCALE = `${DEPLOYMENTS}/web/scale`;

/** A cluster client against a scripted server. */
export class ClusterFixture {
  readonly fake: FakeApiServer;
  readonly clock: ManualClock;
  readonly cluster: Cluster;
  readonly reports: RequestReport[] = [];
  /** Names of the HPAs whose deletion was reported. */
  readonly removedHpas: string[] = [];
  readonly signal = new AbortController().signal;
  /** Entries logged at info and above. */
  readonly logged: { readonly message: string; readonly facts: Readonly<Record<string, unknown>> }[] = [];
  readonly #stop = new AbortController();
  #done: Promise<void> = Promise.resolve();

  private constructor(fake: FakeApiServer, namespaces: readonly string[]) {
    this.fake = fake;
    this.clock = new ManualClock();
    this.cluster = createCluster({
      transport: createTransport({
        connection: connectTo(fake.url),
        clock: this.clock,
        onRequest: (report) => this.reports.push(report),
      }),
      namespaces,
      clock: this.clock,
      instance: 'promscaler-0',
      log: this.#log(),
      onHpaRemoved: ({ name }) => this.removedHpas.push(name),
    });
  }

  #log(): Log {
    const note = (message: string, facts: Facts = {}): void => void this.logged.push({ message, facts });
    return { debug: () => undefined, info: note, warn: note, error: note };
  }

  static async create(namespaces: readonly string[] = []): Promise<ClusterFixture> {
    return new ClusterFixture(await FakeApiServer.start(), namespaces);
  }

  /** Follows the targets (default: deployment shop/web) and starts the watches. */
  start(targets: Parameters<Cluster['follow']>[0] = [{ namespace: 'shop', ref: WEB }]): void {
    this.cluster.follow(targets);
    this.#done = this.cluster.run(this.#stop.signal);
  }

  async synced(): Promise<void> {
    await eventually(() => this.cluster.isSynced(), 'synced');
  }

  /** Waits like `synced` while time passes, so that the request budget refills. */
  async syncedInTime(): Promise<void> {
    await eventually(() => {
      this.clock.advance(10);
      return this.cluster.isSynced();
    }, 'synced');
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
    await this.fake.stop();
  }
}

/** Returns the KubernetesError that a call throws. */
export async function failureOf(call: () => unknown): Promise<KubernetesError> {
  try {
    await call();
  } catch (error) {
    if (error instanceof KubernetesErrorClass) return error;
    throw error;
  }
  throw new Error('it did not fail');
}
