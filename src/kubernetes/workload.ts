import type { TargetRef } from '../scaler/spec.js';
import type { ScalableKind } from './discovery.js';
import type { JsonObject } from './api/json.js';
import type { Transport } from './requests/transport.js';
import { nameTarget } from './targets.js';

export interface WorkloadAccess {
  readonly transport: Transport;
  readonly kind: ScalableKind;
  readonly namespace: string;
  readonly ref: TargetRef;
  readonly signal: AbortSignal;
}

/** Returns a path such as `/apis/apps/v1/namespaces/shop/deployments/web`. */
export function workloadPath({
  kind,
  namespace,
  ref,
}: Pick<WorkloadAccess, 'kind' | 'namespace' | 'ref'>): string {
  return `${kind.root}/namespaces/${encodeURIComponent(namespace)}/${kind.plural}/${encodeURIComponent(ref.name)}`;
}

export function readWorkload(workload: WorkloadAccess, deadlineMs: number): Promise<JsonObject> {
  const { transport, kind, namespace, ref, signal } = workload;
  return transport.request({
    lane: 'read',
    method: 'GET',
    path: workloadPath(workload),
    doing: `reading ${nameTarget(namespace, ref)}`,
    verb: 'get',
    resource: kind.plural,
    deadlineMs,
    signal,
  });
}
