import type { Pod } from '../../src/decision/snapshot/snapshot.js';
import { KubernetesError } from '../../src/kubernetes/api/types.js';
import type {
  Cluster,
  KubernetesErrorKind,
  OtherScaler,
  Scale,
  EventObject,
  TargetEvent,
} from '../../src/kubernetes/api/types.js';

export interface ArrivedPatch {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly replicas: number;
}

/** What the server does with one PATCH; `apply` is its normal behavior. */
export type PatchScript = (apply: () => Scale) => Scale | Promise<Scale>;

/**
 * A Deployment `shop/web` behind the `Cluster` interface: 5 replicas, no pods, no faults. PATCHes are checked against
 * uid and resourceVersion, as the API server does it.
 */
export class FakeCluster implements Cluster {
  /** The uid on the server. */
  uid = 'uid-1';
  version = 100;
  /** Of the `spec`; null: the kind of target reports none. */
  generation: number | null = 1;
  specReplicas = 5;
  statusReplicas = 5;
  /** Replicas in a watch that lags behind; null: those of the server. */
  watchedReplicas: number | null = null;
  /** The resourceVersion in a watch that lags behind; null: that of the server. */
  watchedVersion: number | null = null;
  annotations: Readonly<Record<string, string>> = {};
  /** Managers of the replicas in `managedFields`. */
  managers: readonly string[] = [];
  readonly pods: Pod[] = [];
  readonly others: OtherScaler[] = [];
  ageSeconds = 0;
  readonly arrived: ArrivedPatch[] = [];
  readonly events: TargetEvent[] = [];
  /** Called with each accepted PATCH. */
  onAccepted: (change: { readonly from: number; readonly to: number; readonly uid: string }) => void = () =>
    undefined;
  scaleReads = 0;
  /** Thrown by the next calls of that kind, while set. */
  targetFailure: KubernetesError | null = null;
  podsFailure: KubernetesError | null = null;
  readFailure: KubernetesError | null = null;
  /** Run just before each of the next live reads. */
  readonly beforeReads: (() => void)[] = [];
  /** One for each of the next PATCHes. */
  readonly patchScripts: PatchScript[] = [];

  /** Sets the replicas as another client. */
  readonly setReplicas = (replicas: number, manager = 'kubectl'): void => {
    this.managers = [manager];
    this.specReplicas = replicas;
    this.version += 1;
    if (this.generation !== null) this.generation += 1;
  };

  /** Changes another field of the object. */
  readonly touch = (): void => {
    this.version += 1;
  };

  /** Deletes and recreates the target. */
  readonly recreate = (uid: string, replicas = this.specReplicas): void => {
    this.uid = uid;
    this.setReplicas(replicas);
  };

  readonly run = (): Promise<void> => Promise.resolve();
  readonly follow = (): void => undefined;
  readonly isSynced = (): boolean => true;
  readonly isListing = (): boolean => false;
  readonly cacheAgeSeconds = (): number => this.ageSeconds;
  readonly listOtherScalers = (): Promise<readonly OtherScaler[]> => Promise.resolve(this.others);
  readonly areOtherScalersOutdated = (): boolean => false;
  readonly tryScale = (): Promise<void> => Promise.resolve();
  readonly recordEvent = (_object: EventObject, event: TargetEvent, onWritten?: () => void): void => {
    this.events.push(event);
    onWritten?.();
  };

  readonly listPods = (): readonly Pod[] => {
    if (this.podsFailure !== null) throw this.podsFailure;
    return this.pods;
  };

  readonly readTarget: Cluster['readTarget'] = (namespace, ref) => {
    if (this.targetFailure !== null) return Promise.reject(this.targetFailure);
    const scale = this.#scale();
    return Promise.resolve({
      ref,
      namespace,
      ...scale,
      resourceVersion: String(this.watchedVersion ?? this.version),
      specReplicas: this.watchedReplicas ?? scale.specReplicas,
      selector: [{ key: 'app', operator: 'In' as const, values: ['web'] }],
      annotations: this.annotations,
      replicasManagers: this.managers,
      ...(this.generation === null ? {} : { generation: this.generation }),
    });
  };

  readonly readScale = (): Promise<Scale> => {
    this.scaleReads += 1;
    this.beforeReads.shift()?.();
    return this.readFailure === null ? Promise.resolve(this.#scale()) : Promise.reject(this.readFailure);
  };

  readonly patchScale: Cluster['patchScale'] = async (_namespace, _ref, change) => {
    this.arrived.push(change);
    const script = this.patchScripts.shift();
    return script === undefined ? this.#apply(change) : script(() => this.#apply(change));
  };

  #scale(): Scale {
    const { uid, version, specReplicas, statusReplicas } = this;
    return { uid, resourceVersion: String(version), specReplicas, statusReplicas };
  }

  #apply({ uid, resourceVersion, replicas }: ArrivedPatch): Scale {
    if (uid !== this.uid || resourceVersion !== String(this.version)) throw failure('conflict');
    this.onAccepted({ from: this.specReplicas, to: replicas, uid });
    this.setReplicas(replicas, 'promscaler');
    return this.#scale();
  }
}

/** Builds the error of a failed request to the API server. */
export function failure(kind: KubernetesErrorKind, message = `the server said ${kind}`): KubernetesError {
  return new KubernetesError(kind, message);
}
