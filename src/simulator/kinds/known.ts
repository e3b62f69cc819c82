import { AUTOSCALER_TYPES } from './autoscaler.js';
import { CORE_TYPES } from './core.js';
import { pod } from './pod.js';
import type { ObjectType } from './type.js';
import { WORKLOAD_TYPES } from './workloads.js';

const TYPES: ReadonlyMap<string, ObjectType> = new Map(
  Object.entries({ ...AUTOSCALER_TYPES, ...CORE_TYPES, ...WORKLOAD_TYPES, 'v1/Pod': pod }),
);

/** Returns the type of a built-in kind; null for custom resources and CustomResourceDefinitions. */
export function knownType(apiVersion: string, kind: string): ObjectType | null {
  return TYPES.get(`${apiVersion}/${kind}`) ?? null;
}
