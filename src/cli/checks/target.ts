import { endedPause, readPause } from '../../control/cycle/pause.js';
import { asOtherScaler, findOtherScaler } from '../../control/cycle/shared-targets.js';
import { nameOtherScaler } from '../../decision/pause.js';
import { correctedTarget } from '../../decision/remedies.js';
import { fixForKind, kubectl, remedyText, start } from '../../decision/snippet.js';
import { type JsonObject, objectIn, objectsIn, textIn, textsIn } from '../../kubernetes/api/json.js';
import { KubernetesError, type OtherScaler, type ScaleTarget, orNull } from '../../kubernetes/api/types.js';
import { listHpas } from '../../kubernetes/hpa.js';
import { findOtherKind } from '../../kubernetes/scale.js';
import {
  groupOf,
  nameTarget,
  readWatchedTarget,
  watchedPlural,
  APPS_ROOT,
} from '../../kubernetes/targets.js';
import { formatSelector } from '../../kubernetes/pods/selectors.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import {
  type IgnoredAnnotation,
  ignoredOfDocument,
  ignoredOfTarget,
  ignoredSentence,
} from '../../scaler/annotations.js';
import { nearest } from '../../scaler/problems/nearest.js';
import { OBJECTS_PATH } from '../../scaler/problems/problem.js';
import { scalerKey, type Scaler, type TargetRef } from '../../scaler/spec.js';
import type { CheckResults, Checked } from './check-result.js';
import { type ClusterContext, REQUEST_MS } from './context.js';
import { targetsFix } from './permissions.js';
import { originOfOtherTarget } from './other-scaler.js';
import { isInDryRun, type ScalerFacts } from './scaler-facts.js';
import { countOf, listSome } from '../../units/format.js';

export async function checkTarget(facts: Checked<ScalerFacts>): Promise<CheckResults> {
  const { scaler, cluster, context, make } = facts;
  if (cluster === null || context === null) return make.skipped('the API server does not answer');
  const { namespace, spec } = scaler;
  const { scaleTargetRef: ref } = spec;
  const { target } = cluster;
  if (target instanceof KubernetesError) {
    switch (target.kind) {
      case 'not_found':
        return make.failed(...(await explainMissingTarget(facts, context, target)));
      case 'forbidden':
        return make.failed(target.message, await fixForForbidden(scaler, context));
      case 'invalid_selector':
        return make.failed(
          target.message,
          `give ${nameTarget(namespace, ref)} a selector that matches its pods (spec.selector)`,
        );
      case 'invalid':
        return make.failed(target.message, fixForInvalid(target));
      default:
        return make.failed(
          target.message,
          'try again; if the error persists, check the log of the API server',
        );
    }
  }
  const { specReplicas } = target;
  const pause = readPause(spec, target.annotations, context.clock.now());
  if (specReplicas === 0 && spec.minReplicas > 0 && pause?.replicas !== 0)
    return make.warning(
      `${nameTarget(namespace, ref)} was set to 0 replicas by another client, so promscaler does not scale it`,
      `${start(namespace, `${resourceOf(ref)}/${ref.name}`, spec.minReplicas).text} enables scaling again`,
    );
  const ignored = ignoredAnnotations(scaler, cluster.object);
  const text = ignoredSentence(ignored, nameTarget(namespace, ref));
  const key = scalerKey(scaler);
  const ended = endedPause(target.annotations, context.clock.now());
  const fix = `promscaler resume ${key} removes the annotations; to pause again: promscaler pause ${key}`;
  const warnings = [
    ...(text === null
      ? []
      : [
          make.warning(
            text,
            kubectl(namespace, 'annotate', resourceOf(ref), ref.name, ...removalOf(ignored)).text,
          ),
        ]),
    ...(ended === null ? [] : [make.warning(ended, fix)]),
    ...(await ignoredAround(scaler, context, target)).map((args) => make.warning(...args)),
  ];
  return warnings.length > 0
    ? warnings
    : [make.ok(`${nameTarget(namespace, ref)} has ${countOf(specReplicas, 'replica')}`)];
}

function fixForInvalid({ suggestion, unusableKind }: KubernetesError): string {
  if (suggestion !== null)
    return correctedTarget({ kind: suggestion.kind ?? undefined, name: suggestion.name });
  return fixOfKind(unusableKind) ?? 'set spec.scaleTargetRef to the object that has spec.replicas';
}

/** Returns the fix for a kind that cannot be a target, with its command; null: the error is about something else. */
function fixOfKind(unusableKind: KubernetesError['unusableKind']): string | null {
  if (unusableKind === null) return null;
  const text = remedyText(fixForKind(unusableKind));
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

/** Returns the arguments of `kubectl annotate` that remove annotations. */
function removalOf(ignored: readonly IgnoredAnnotation[]): readonly string[] {
  return ignored.map(({ key }) => `${key}-`);
}

/** Returns the annotations without effect. promscaler reads annotations only from workloads that it watches. */
function ignoredAnnotations(scaler: Scaler, object: JsonObject | null): readonly IgnoredAnnotation[] {
  const { scaleTargetRef: ref } = scaler.spec;
  const annotations = (object === null ? null : readWatchedTarget(object))?.annotations ?? {};
  if (watchedPlural(ref) !== null) return ignoredOfTarget(annotations, scaler);
  const advice = `promscaler reads no annotations of a ${ref.kind}. To pause its scaling, set spec.paused: true in the document`;
  return Object.keys(annotations).map((key) => ({ key, advice }));
}

/** Limits the checked scalers, because each takes another request. */
const MOST_SCALERS = 50;

/**
 * Returns message and fix for annotations of a pause on the namespace and on the ReplicaSets of the target, which
 * promscaler does not read. Objects that the account may not read are omitted.
 */
async function ignoredAround(
  scaler: Scaler,
  { annotationsOf, transport, signal, scalers }: ClusterContext,
  { ref, namespace, selector }: ScaleTarget,
): Promise<readonly (readonly [string, string])[]> {
  if (scalers.length > MOST_SCALERS) return [];
  const scope = resourceScope(APPS_ROOT, 'replicasets', namespace);
  const labelSelector = formatSelector(selector);
  const [ofNamespace, sets] = await Promise.all([
    annotationsOf(namespace),
    ref.kind === 'Deployment' && groupOf(ref) === 'apps'
      ? orNull(() => listAll({ transport, scope, convert: ownedBy(ref.name), labelSelector, signal }))
      : null,
  ]);
  const found = [
    {
      ignored: ignoredOfDocument(ofNamespace, scaler),
      name: `namespace ${namespace}`,
      command: `kubectl annotate namespace ${namespace}`,
    },
    ...(sets?.items ?? []).map(({ name, annotations }) => ({
      ignored: ignoredOfDocument(annotations, scaler),
      name: `replicaset ${namespace}/${name}`,
      command: kubectl(namespace, 'annotate', 'replicaset', name).text,
    })),
  ];
  return found.flatMap(({ ignored, name, command }) => {
    const text = ignoredSentence(ignored, name);
    return text === null ? [] : [[text, [command, ...removalOf(ignored)].join(' ')] as const];
  });
}

/**
 * Returns a function that reads the annotations of a ReplicaSet of a Deployment. Omits annotations that the controller
 * has copied from the Deployment.
 */
function ownedBy(deployment: string) {
  return (
    object: JsonObject,
  ): { readonly name: string; readonly annotations: Readonly<Record<string, string>> } | null => {
    const metadata = objectIn(object, 'metadata');
    if (readWatchedTarget(object)?.owner !== deployment) return null;
    const byOthers = objectsIn(metadata, 'managedFields')
      .filter((entry) => textIn(entry, 'manager') !== 'kube-controller-manager')
      .map((entry) => objectIn(objectIn(objectIn(entry, 'fieldsV1'), 'f:metadata'), 'f:annotations'));
    const isByOther = (key: string): boolean => byOthers.some((fields) => fields?.[`f:${key}`] !== undefined);
    const annotations = Object.entries(textsIn(metadata, 'annotations')).filter(([key]) => isByOther(key));
    return { name: textIn(metadata, 'name') ?? '', annotations: Object.fromEntries(annotations) };
  };
}

function resourceOf(ref: TargetRef): string {
  const word = ref.kind.toLowerCase();
  return watchedPlural(ref) === null ? `${word}.${groupOf(ref)}` : word;
}

async function fixForForbidden(
  { namespace, spec: { scaleTargetRef: ref } }: Scaler,
  { discovery, signal }: ClusterContext,
): Promise<string> {
  const kind = await orNull(() => discovery.find(ref, signal));
  const plural = kind?.plural ?? `${ref.kind.toLowerCase()}s`;
  return `${targetsFix(groupOf(ref), plural)}; if the chart value namespaces is set, add ${namespace}`;
}

interface Target {
  readonly namespace: string;
  readonly ref: TargetRef;
}

/**
 * Returns message and fix for a missing target: a similar name, another kind or another namespace. Prefers a workload
 * that nothing scales. For any other workload, the message names its scaler.
 */
async function explainMissingTarget(
  facts: ScalerFacts,
  context: ClusterContext,
  error: KubernetesError,
): Promise<readonly [string, string]> {
  const { namespace, spec } = facts.scaler;
  const { scaleTargetRef: ref } = spec;
  const kind = await orNull(() => context.discovery.find(ref, context.signal));
  // The API server does not serve the kind. The error message lists the kinds that it serves.
  if (kind === null)
    return [
      error.message,
      fixOfKind(error.unusableKind) ??
        'set apiVersion and kind of spec.scaleTargetRef to those of the workload: kubectl api-resources',
    ];
  const others = await listOthers(facts, context);
  const scalerOf = (one: Target): OtherScaler | null => findOtherScaler(one.namespace, one.ref, others);
  const isFree = (one: Target): boolean => scalerOf(one) === null;
  const message = `${nameTarget(namespace, ref)} does not exist`;
  const { reported, wasScaled, scaler } = facts;
  if (reported?.state === 'NoTarget') return [reported.message, reported.fix];
  const origin = originOfOtherTarget(scaler, others);
  if (origin !== null) {
    const { kind: otherKind, name } = origin.target;
    const isSameKind = otherKind === ref.kind;
    return [
      `${message}, but ${nameOtherScaler(origin)}, from which the document was made, scales ${nameTarget(namespace, origin.target)}`,
      correctedTarget({ kind: isSameKind ? undefined : otherKind, name }),
    ];
  }
  const here = await listTargets(context, kind, { namespace, ref });
  const free = (here ?? []).filter(isFree);
  const near = nearestOf(ref.name, free);
  const isSameName = scaler.name === ref.name;
  if (near !== null && !wasScaled && !isSameName) return [message, correctedTarget({ name: near.ref.name })];
  const other = await findOtherKind({ ...context, namespace, ref }, REQUEST_MS);
  const otherKind = other === null ? null : { namespace, ref: other };
  if (otherKind !== null && isFree(otherKind))
    return [
      `${message}, but a ${otherKind.ref.kind} of the same name exists`,
      correctedTarget({ kind: otherKind.ref.kind, name: ref.name }),
    ];
  // If this target was scaled, or if the scaler has its name, a workload with a similar name is not the intended
  // target.
  if (wasScaled)
    return [
      `${message}, but promscaler has scaled this workload before`,
      `create ${nameTarget(namespace, ref)} again, or: ${kubectl(namespace, 'delete', OBJECTS_PATH, scaler.name).text}`,
    ];
  if (near !== null)
    return [
      `${message}, but ${nameTarget(namespace, near.ref)} has a similar name`,
      `create ${nameTarget(namespace, ref)}, correct spec.scaleTargetRef, or delete this document`,
    ];
  const everywhere = await listTargets(context, kind, { namespace: null, ref });
  const sameName = (everywhere ?? []).filter((one) => one.ref.name === ref.name);
  const elsewhere = sameName.filter(isFree).map((one) => one.namespace);
  const [first] = elsewhere;
  if (first !== undefined)
    return [
      `${message}, but a workload of the same name exists in namespace ${listSome(elsewhere)}`,
      `metadata.namespace: ${first}`,
    ];
  const inDryRun = new Set(
    facts.allScalers
      .filter((one) => isInDryRun(one, context))
      .map((one) => nameOtherScaler(asOtherScaler(one))),
  );
  const scaled = [nearestOf(ref.name, here ?? []), otherKind, ...sameName].flatMap((one) => {
    const other = one === null ? null : scalerOf(one);
    if (one === null || other === null) return [];
    const name = nameOtherScaler(other);
    const use = inDryRun.has(name) ? `it is the target of ${name}, which is in dry run` : `${name} scales it`;
    return [`${nameTarget(one.namespace, one.ref)} exists, but ${use}`];
  });
  if (scaled.length > 0)
    return [
      `${message}; ${listSome(scaled)}`,
      `create ${nameTarget(namespace, ref)}, correct spec.scaleTargetRef, or delete this document`,
    ];
  if (here === null)
    return [message, `set spec.scaleTargetRef.name to the name of a workload in namespace ${namespace}`];
  if (free.length > 0)
    return [
      `${message}; namespace ${namespace} has ${listSome(free.map((one) => one.ref.name))}`,
      `create ${nameTarget(namespace, ref)}, or correct spec.scaleTargetRef.name`,
    ];
  if (here.length > 0)
    return [
      `${message}; other documents or HPAs scale all ${kind.plural} of namespace ${namespace}`,
      'deploy the workload, or delete this document',
    ];
  const namespaces = [...new Set((everywhere ?? []).map((one) => one.namespace))];
  const nearNamespace = nearest(namespace, namespaces);
  return [
    `${message}: namespace ${namespace} has no ${kind.plural}`,
    nearNamespace === null
      ? 'deploy the workload, or set metadata.namespace to its namespace'
      : `metadata.namespace: ${nearNamespace}`,
  ];
}

/**
 * Returns the other documents, and the HPAs of all namespaces, or only of this namespace if listing all is forbidden.
 * Documents in dry run are last, because an HPA with the same target scales the target.
 */
async function listOthers(
  { scaler, allScalers, cluster }: ScalerFacts,
  context: ClusterContext,
): Promise<readonly OtherScaler[]> {
  const { transport, signal } = context;
  const here = cluster === null || cluster.others instanceof KubernetesError ? [] : cluster.others;
  const hpas = (await orNull(() => listHpas(transport, null, signal))) ?? here;
  const documents = allScalers.filter((one) => scalerKey(one) !== scalerKey(scaler));
  const dryRuns = documents.filter((one) => isInDryRun(one, context));
  const live = documents.filter((one) => !isInDryRun(one, context));
  return [...live.map(asOtherScaler), ...hpas, ...dryRuns.map(asOtherScaler)];
}

function nearestOf(name: string, targets: readonly Target[]): Target | null {
  const near = nearest(
    name,
    targets.map(({ ref }) => ref.name),
  );
  return targets.find(({ ref }) => ref.name === near) ?? null;
}

/** Returns the objects of a kind that could be the target; null: listing them is forbidden. */
async function listTargets(
  { transport, signal }: ClusterContext,
  { root, plural }: { readonly root: string; readonly plural: string },
  { namespace, ref }: { readonly namespace: string | null; readonly ref: TargetRef },
): Promise<readonly Target[] | null> {
  const convert = (object: JsonObject): Target | null => {
    const metadata = objectIn(object, 'metadata');
    const name = textIn(metadata, 'name');
    return name === null ? null : { namespace: textIn(metadata, 'namespace') ?? '', ref: { ...ref, name } };
  };
  const scope = resourceScope(root, plural, namespace);
  return (await orNull(() => listAll({ transport, scope, convert, signal })))?.items ?? null;
}
