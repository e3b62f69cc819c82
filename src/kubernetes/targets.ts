import { isOfTarget } from '../scaler/annotations.js';
import { suggest } from '../scaler/problems/nearest.js';
import { isWatched, type LabelSelector, type TargetRef, WATCHED_KINDS } from '../scaler/spec.js';
import { countIn, objectIn, objectsIn, textIn, textsIn, type JsonObject } from './api/json.js';
import type { JsonFields } from './requests/prune-json.js';
import type { WatchedObject } from './watch/object-store.js';
import { selectorFromObject } from './pods/selectors.js';
import { KubernetesError, type Rollout, type ScaleTarget } from './api/types.js';

export interface WatchedTarget extends WatchedObject {
  readonly uid: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly selector: LabelSelector | null;
  /** Only the annotations of `promscaler.dev`, to save memory: last-applied-configuration contains the whole object. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly replicasManagers: readonly string[];
  readonly generation: number | null;
  readonly rollout: Rollout | null;
  readonly owner: string | null;
  /** The last result of `knownScaleTarget`; null: there is none. */
  view: ScaleTarget | null;
}

export const APPS_ROOT = '/apis/apps/v1';

/**
 * Returns the plural of a kind, such as `deployments` for a Deployment in any version of `apps`; null: the kind is not
 * watched.
 */
export function watchedPlural(ref: TargetRef): string | null {
  return isWatched(ref) ? (WATCHED_KINDS[ref.kind] ?? null) : null;
}

/** Returns the API group, such as `apps` for `apps/v1`; empty for the core group. */
export function groupOf(ref: TargetRef): string {
  const slash = ref.apiVersion.indexOf('/');
  return slash === -1 ? '' : ref.apiVersion.slice(0, slash);
}

/** Returns the key of a target. It contains the API group but not the version: all versions are the same object. */
export function targetKey(namespace: string, ref: TargetRef): string {
  return `${namespace}/${groupOf(ref)}/${ref.kind}/${ref.name}`;
}

/** Returns the name of a target in messages: `deployment shop/web`. */
export function nameTarget(namespace: string, ref: TargetRef): string {
  return `${ref.kind.toLowerCase()} ${namespace}/${ref.name}`;
}

export const TARGET_FIELDS: JsonFields = {
  metadata: {
    name: true,
    namespace: true,
    uid: true,
    resourceVersion: true,
    generation: true,
    annotations: true,
    ownerReferences: true,
    managedFields: { manager: true, fieldsV1: { 'f:spec': { 'f:replicas': true } } },
  },
  spec: { replicas: true, selector: true, paused: true },
  status: { replicas: true, conditions: { type: true, status: true, reason: true } },
};

/** Returns a target; null: the object has no name or no uid. If `spec.replicas` is missing, it is 1. */
export function readWatchedTarget(object: JsonObject): WatchedTarget | null {
  const metadata = objectIn(object, 'metadata');
  const [namespace, name, uid] = [
    textIn(metadata, 'namespace') ?? '',
    textIn(metadata, 'name') ?? '',
    textIn(metadata, 'uid') ?? '',
  ];
  if (namespace === '' || name === '' || uid === '') return null;
  const spec = objectIn(object, 'spec');
  const owner = objectsIn(metadata, 'ownerReferences').find(
    (reference) => textIn(reference, 'kind') === 'Deployment' && reference['controller'] === true,
  );
  return {
    namespace,
    name,
    uid,
    resourceVersion: textIn(metadata, 'resourceVersion') ?? '',
    specReplicas: countIn(spec, 'replicas') ?? 1,
    statusReplicas: countIn(objectIn(object, 'status'), 'replicas') ?? 0,
    selector: selectorFromObject(spec?.['selector']),
    annotations: ownAnnotations(metadata),
    replicasManagers: managersOfReplicas(metadata),
    generation: countIn(metadata, 'generation'),
    rollout: rolloutOf(spec, objectIn(object, 'status')),
    owner: owner === undefined ? null : textIn(owner, 'name'),
    view: null,
  };
}

function rolloutOf(spec: JsonObject | null, status: JsonObject | null): Rollout | null {
  if (spec?.['paused'] === true) return 'paused';
  const isStuck = objectsIn(status, 'conditions').some(
    (condition) =>
      textIn(condition, 'type') === 'Progressing' &&
      textIn(condition, 'status') === 'False' &&
      textIn(condition, 'reason') === 'ProgressDeadlineExceeded',
  );
  return isStuck ? 'stuck' : null;
}

/**
 * Returns the managers of `spec.replicas`. There are several if they wrote the same value, or if one wrote through
 * `/scale`. Source: reliability.md, W9.
 */
function managersOfReplicas(metadata: JsonObject | null): readonly string[] {
  const managers = objectsIn(metadata, 'managedFields')
    .filter((entry) => objectIn(objectIn(objectIn(entry, 'fieldsV1'), 'f:spec'), 'f:replicas') !== null)
    .map((entry) => textIn(entry, 'manager') ?? '')
    .filter((manager) => manager !== '');
  return [...new Set(managers)];
}

function ownAnnotations(metadata: JsonObject | null): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(textsIn(metadata, 'annotations')).filter(([key]) => isOfTarget(key)),
  );
}

/**
 * Converts a watched target. Throws `KubernetesError`: `invalid` for a ReplicaSet that a Deployment owns,
 * `invalid_selector` if the selector is missing, empty or invalid.
 */
export function toScaleTarget(ref: TargetRef, watched: WatchedTarget): ScaleTarget {
  const { namespace, uid, resourceVersion, specReplicas, statusReplicas } = watched;
  const { annotations, replicasManagers, generation, rollout } = watched;
  const name = nameTarget(namespace, ref);
  if (watched.owner !== null)
    throw new KubernetesError(
      'invalid',
      `reading ${name}: deployment ${namespace}/${watched.owner} owns this ReplicaSet and would revert every change${suggest(watched.owner, 'Deployment')}`,
      { suggestion: { kind: 'Deployment', name: watched.owner } },
    );
  const selector = usableSelector(watched.selector, `reading ${name}`);
  return {
    ref,
    namespace,
    uid,
    resourceVersion,
    specReplicas,
    statusReplicas,
    selector,
    annotations,
    replicasManagers,
    ...(generation === null ? {} : { generation }),
    ...(rollout === null ? {} : { rollout }),
  };
}

/** Returns the same `toScaleTarget` result until the target changes; null if `toScaleTarget` would throw. */
export function knownScaleTarget(ref: TargetRef, watched: WatchedTarget): ScaleTarget | null {
  if (watched.view?.ref === ref) return watched.view;
  if (watched.owner !== null || watched.selector === null || watched.selector.length === 0) return null;
  watched.view = toScaleTarget(ref, watched);
  return watched.view;
}

/**
 * Returns a valid selector. Throws for an empty one, as the HPA does, because it would match every pod of the
 * namespace.
 */
export function usableSelector(selector: LabelSelector | null, doing: string): LabelSelector {
  if (selector === null || selector.length === 0)
    throw new KubernetesError(
      'invalid_selector',
      `${doing}: the selector is ${selector === null ? 'missing or invalid' : 'empty'}`,
    );
  return selector;
}
