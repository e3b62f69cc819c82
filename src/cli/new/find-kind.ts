import { listIn, objectIn, objectsIn, textIn, type JsonObject } from '../../kubernetes/api/json.js';
import { APPS_ROOT, groupOf, watchedPlural } from '../../kubernetes/targets.js';
import type { Transport } from '../../kubernetes/requests/transport.js';
import { nullIfNotFound } from '../../kubernetes/api/types.js';
import { didYouMean } from '../../scaler/problems/nearest.js';
import type { TargetRef } from '../../scaler/spec.js';
import type { ParsedTarget } from '../reach/target-kind.js';

export interface FoundKind {
  readonly ref: TargetRef;
  /** Path in the API, for example `/apis/argoproj.io/v1alpha1`. */
  readonly root: string;
  readonly plural: string;
  readonly hasScale: boolean;
}

const DEADLINE_MS = 5000;

/**
 * Finds a kind by its name, plural, singular or short name, like kubectl. `missing`: a message that the cluster does
 * not have the kind. Throws `KubernetesError`.
 */
export async function findKind(
  transport: Transport,
  target: ParsedTarget,
  signal: AbortSignal,
): Promise<FoundKind | { readonly missing: string }> {
  const { name, ref, unknown } = target;
  const plural = ref === null ? null : watchedPlural(ref);
  if (ref !== null && plural !== null) return { ref, root: APPS_ROOT, plural, hasScale: true };
  if (ref?.apiVersion === 'v1')
    return { ref, root: '/api/v1', plural: 'replicationcontrollers', hasScale: true };
  const { word, group, version } = unknown ?? { word: ref.kind, group: groupOf(ref), version: null };
  const request = {
    lane: 'read',
    doing: `reading the API group ${group}`,
    verb: 'get',
    resource: 'discovery',
    deadlineMs: DEADLINE_MS,
    signal,
  } as const;
  const get = (path: string): Promise<JsonObject | null> =>
    nullIfNotFound(() => transport.request({ ...request, path }));
  const described = await get(`/apis/${encodeURIComponent(group)}`);
  const others: string[] = [];
  for (const served of versionsOf(described)) {
    const root = `/apis/${encodeURIComponent(group)}/${encodeURIComponent(served)}`;
    const resources = objectsIn(await get(root), 'resources');
    const found = findResource(resources, word);
    if (found === null) {
      others.push(...kindsIn(resources));
      continue;
    }
    const apiVersion = `${group}/${version ?? served}`;
    return { root, ref: ref ?? { apiVersion, kind: found.kind, name }, ...found };
  }
  const hint = didYouMean(word, [...new Set(others)]);
  return { missing: `the API server has no kind "${word}" in the API group ${group}${hint}` };
}

/** Returns the versions of an API group, the preferred one first. */
function versionsOf(group: JsonObject | null): readonly string[] {
  const preferred = textIn(objectIn(group, 'preferredVersion'), 'version');
  const versions = objectsIn(group, 'versions').map((version) => textIn(version, 'version'));
  return [...new Set([preferred, ...versions])].filter((version) => version !== null);
}

function findResource(
  resources: readonly JsonObject[],
  word: string,
): { readonly kind: string; readonly plural: string; readonly hasScale: boolean } | null {
  const wanted = word.toLowerCase();
  for (const resource of resources) {
    const plural = textIn(resource, 'name') ?? '';
    const kind = textIn(resource, 'kind') ?? '';
    const names = [plural, kind, textIn(resource, 'singularName') ?? '', ...listIn(resource, 'shortNames')];
    const isMatch = names.some((name) => typeof name === 'string' && name.toLowerCase() === wanted);
    if (plural === '' || plural.includes('/') || kind === '' || !isMatch) continue;
    const hasScale = resources.some((other) => textIn(other, 'name') === `${plural}/scale`);
    return { kind, plural, hasScale };
  }
  return null;
}

function kindsIn(resources: readonly JsonObject[]): readonly string[] {
  return resources.flatMap((resource) =>
    (textIn(resource, 'name') ?? '/').includes('/') ? [] : [textIn(resource, 'kind') ?? ''],
  );
}
