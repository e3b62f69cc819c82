import { type JsonObject } from '../kinds/json.js';
import { WORKLOAD_KINDS } from './kinds.js';

interface ContainerOptions {
  readonly name: string;
  readonly image?: string;
  readonly cpuRequest?: string;
  readonly cpuLimit?: string;
  readonly memoryRequest?: string;
  readonly memoryLimit?: string;
}

type WorkloadKindName = 'Deployment' | 'StatefulSet' | 'ReplicaSet' | 'ReplicationController' | 'Rollout';

export interface ManifestOptions {
  /** Default: `Deployment`. */
  readonly kind?: WorkloadKindName;
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  /** Default: one container `app` with requests of 500m CPU and 256Mi memory, and limits of 1 CPU and 512Mi memory. */
  readonly containers?: readonly ContainerOptions[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const ONE_CONTAINER: readonly ContainerOptions[] = [
  { name: 'app', cpuRequest: '500m', cpuLimit: '1', memoryRequest: '256Mi', memoryLimit: '512Mi' },
];

/** Returns the manifest of a workload whose pods are labeled `app: NAME`. */
export function makeManifest(options: ManifestOptions): JsonObject {
  const { kind = 'Deployment', namespace, name, replicas, containers = ONE_CONTAINER } = options;
  const labels = { app: name, ...options.labels };
  const selector = { app: name };
  return {
    apiVersion: WORKLOAD_KINDS.find((known) => known.kind === kind)?.apiVersion ?? 'apps/v1',
    kind,
    metadata: { name, namespace, labels, annotations: options.annotations },
    spec: {
      replicas,
      selector: kind === 'ReplicationController' ? selector : { matchLabels: selector },
      serviceName: kind === 'StatefulSet' ? name : undefined,
      template: { metadata: { labels }, spec: { containers: containers.map(makeContainer) } },
    },
  };
}

function makeContainer(container: ContainerOptions): JsonObject {
  const {
    name,
    image = 'registry.example/app:1',
    cpuRequest,
    cpuLimit,
    memoryRequest,
    memoryLimit,
  } = container;
  return {
    name,
    image,
    resources: {
      requests: { cpu: cpuRequest, memory: memoryRequest },
      limits: { cpu: cpuLimit, memory: memoryLimit },
    },
  };
}
