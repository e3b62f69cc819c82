import { readPause } from '../../control/cycle/pause.js';
import { atReplicas, findOtherScaler, whyNotScaling } from '../../control/cycle/shared-targets.js';
import { deleteAutoscaler, isPausedInKeda, whatHelps } from '../../decision/idle-autoscaler.js';
import { conflictWith, nameOtherScaler, type OtherAutoscaler } from '../../decision/pause.js';
import { kedaPauses } from '../../importers/keda/import-scaled-object.js';
import { objectIn, textsIn } from '../../kubernetes/api/json.js';
import { meansNoHpas, NOT_SET_YET } from '../../kubernetes/hpa.js';
import { readWorkload } from '../../kubernetes/scale.js';
import { nameTarget, targetKey } from '../../kubernetes/targets.js';
import { KubernetesError, type OtherScaler, orError } from '../../kubernetes/api/types.js';
import {
  ADOPTED_FROM,
  adoptedFrom,
  type Origin,
  type Scaler,
  scalerKey,
  type TargetRef,
} from '../../scaler/spec.js';
import { SCALED_OBJECT } from '../reach/source-kinds.js';
import type { CheckResult, CheckResults, Checked } from './check-result.js';
import { REQUEST_MS } from './context.js';
import { replicasOf, type ScalerFacts } from './scaler-facts.js';

/** Checks for another autoscaler with the same target. It blocks all patches, unless the scaler is in dry run. */
export async function checkOtherScaler(facts: Checked<ScalerFacts>): Promise<CheckResults> {
  const { scaler, cluster, sharesTargetWith, isDryRun, isObjectLive, make } = facts;
  const { namespace, spec } = scaler;
  const { scaleTargetRef: ref } = spec;
  const documents = sharesTargetWith === null ? [] : [otherDocument(sharesTargetWith)];
  function otherDocument(other: OtherScaler): CheckResult {
    const name = nameOtherScaler(other);
    if (spec.dryRun)
      return make.ok(`dry run next to ${name}: delete one of the two autoscalers before the dry run ends`);
    return make.failed(
      `${name} also scales ${nameTarget(namespace, ref)}: promscaler patches the target for neither of the two scalers`,
      'delete one of the two documents, or set spec.dryRun: true in one of them',
    );
  }
  function otherTarget(origin: OtherScaler): CheckResult {
    const name = nameOtherScaler(origin);
    return make.warning(
      `the document was made from ${name} and has the target ${nameTarget(namespace, ref)}, but ${name} scales ${nameTarget(namespace, origin.target)}`,
      `correct spec.scaleTargetRef; or if the two no longer belong together, remove the annotation ${ADOPTED_FROM}`,
    );
  }
  if (cluster === null) return [...documents, make.skipped('the API server does not answer')];
  const { others } = cluster;
  if (others instanceof KubernetesError) {
    const unlisted = meansNoHpas(others)
      ? make.warning(
          `HPAs cannot be listed, so an HPA on the same target is not detected: ${others.message}`,
          'set the chart value rbac.create: true (list and watch on horizontalpodautoscalers)',
        )
      : make.failed(
          `HPAs cannot be listed, so promscaler patches no target of namespace ${namespace}: ${others.message}`,
          'look for the failure in the log of the API server',
        );
    return [...documents, unlisted];
  }
  const { target } = cluster;
  // If the target does not exist, the check `target` names the autoscaler.
  const origin = target instanceof KubernetesError ? null : originOfOtherTarget(scaler, others);
  const shared = [...(origin === null ? [] : [otherTarget(origin)]), ...documents];
  const specReplicas = replicasOf(facts);
  const first = findOtherScaler(namespace, ref, others);
  if (isDryRun && first !== null) {
    const other = atReplicas(first, specReplicas);
    const isIdle = other.whyNoCount !== undefined || other.second !== undefined;
    return [...shared, isIdle ? await whyNothing(other) : make.ok(comparison(other))];
  }
  const found = others.filter((other) => targetKey(namespace, other.target) === targetKey(namespace, ref));
  const conflicts = found.map((each) => {
    const other = atReplicas(each, specReplicas);
    return make.failed(
      alsoScales(other, ref),
      `${deleteAutoscaler(other).text} (or set spec.dryRun: true to compare the two)`,
    );
  });
  const all = [...shared, ...conflicts];
  if (all.length > 0) return all;
  const former = isDryRun ? adoptedFrom(scaler) : null;
  if (former === null) return make.ok('');
  if (isObjectLive)
    return make.warning(
      `the document has dryRun: true, but Scaler ${scalerKey(scaler)} in the cluster does not: once the document is applied, nothing scales ${nameTarget(namespace, ref)}`,
      'remove spec.dryRun from the document',
    );
  return whyNothing({ ...former, namespace });

  async function whyNothing(found: OtherAutoscaler): Promise<CheckResult> {
    // The check `target` fails. Without a target, the end of the dry run would not help.
    if (target instanceof KubernetesError) return make.skipped('the target cannot be read');
    const idle = { ...found, kedaPauses: await readKedaPauses(facts, found) };
    const { steps, adopt, endsDryRun } = whatHelps(idle);
    const isNew = idle.second === undefined && idle.whyNoCount === NOT_SET_YET;
    const all = [
      ...(isNew ? ['if the HPA is new, wait a minute and run this command again'] : []),
      ...steps.map(({ snippet }) => snippet.text),
    ];
    const why = `nothing scales ${nameTarget(namespace, ref)}: ${whyNotScaling(idle)}`;
    // The result is no failure: the check `decision` warns about the pause, which must end first.
    if (spec.paused !== false)
      return idle.second === undefined && isPausedInKeda(idle)
        ? make.warning(
            `the scaler is paused, and ${why}`,
            `to end both pauses: remove spec.paused; and ${all.join('; and ')}`,
          )
        : make.ok(`the scaler is paused, and ${why}`);
    const message = `the scaler is in dry run, and ${why}`;
    if (!spec.dryRun && endsDryRun) return make.failed(message, 'start the service without --dry-run');
    // Both the command and the edit of a file, because `adopt` finds only Scaler objects in the cluster.
    if (adopt !== null) {
      const now = facts.context?.clock.now();
      const isPaused = endsDryRun && now !== undefined && readPause(spec, target.annotations, now) !== null;
      const resume = isPaused ? `promscaler resume ${scalerKey(scaler)}, then ` : '';
      all.push(`with the document in the cluster: ${resume}${adopt.snippet.text}`);
    }
    if (endsDryRun) all.push('in a file, remove spec.dryRun');
    return make.failed(message, all.join('; or '));
  }
}

/**
 * Returns the autoscaler from which the document was made, if it exists with another target than the document;
 * otherwise null.
 */
export function originOfOtherTarget(scaler: Scaler, others: readonly OtherScaler[]): OtherScaler | null {
  const { namespace, spec } = scaler;
  const origin = adoptedFrom(scaler);
  const found = others.find(
    (other) => other.kind === origin?.kind && other.name === origin.name && other.namespace === namespace,
  );
  const isSame =
    found === undefined || targetKey(namespace, found.target) === targetKey(namespace, spec.scaleTargetRef);
  return isSame ? null : found;
}

/**
 * Returns the annotations by which a ScaledObject is paused in KEDA. Null: the ScaledObject does not exist. Undefined:
 * it cannot be read, or the autoscaler is no ScaledObject.
 */
async function readKedaPauses(
  { scaler: { namespace }, context }: ScalerFacts,
  { kind, name }: Origin,
): Promise<readonly string[] | null | undefined> {
  if (kind !== SCALED_OBJECT.kind || context === null) return undefined;
  const { transport, signal } = context;
  const ref = { apiVersion: SCALED_OBJECT.apiVersion, kind, name };
  const workload = { transport, kind: SCALED_OBJECT, namespace, ref, signal };
  const found = await orError(() => readWorkload(workload, REQUEST_MS));
  if (found instanceof KubernetesError) return found.kind === 'not_found' ? null : undefined;
  return kedaPauses(textsIn(objectIn(found, 'metadata'), 'annotations'));
}

function comparison(other: OtherScaler): string {
  const { desiredReplicas: count } = other;
  const wanted =
    count === undefined
      ? ', which has no desired replicas while its target has 0 replicas'
      : ` with ${count} desired replicas`;
  return `dry run next to ${nameOtherScaler(other)}${wanted}`;
}

/** Returns the message about an HPA or ScaledObject with the target of a scaler that is not in dry run. */
export function alsoScales(other: Omit<OtherScaler, 'target'>, ref: TargetRef): string {
  const { kind, namespace, whyNoCount } = other;
  const target = nameTarget(namespace, ref);
  const what = conflictWith(other, { scales: `${nameOtherScaler(other)} also scales ${target}`, target });
  return `${what}${whyNoCount === undefined ? ':' : ';'} promscaler does not patch the target until the ${kind} is deleted`;
}
