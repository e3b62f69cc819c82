import { atReplicas, whyNotScaling } from '../../control/cycle/shared-targets.js';
import { conflictWith, nameOtherScaler } from '../../decision/pause.js';
import { takeOver } from '../../decision/snippet.js';
import { meansNoHpas } from '../../kubernetes/hpa.js';
import { readWorkload } from '../../kubernetes/scale.js';
import { nameTarget, targetKey } from '../../kubernetes/targets.js';
import { KubernetesError, type OtherScaler, orError } from '../../kubernetes/api/types.js';
import { adoptedFrom, type Origin, scalerKey, type TargetRef } from '../../scaler/spec.js';
import { SCALED_OBJECT } from '../reach/source-kinds.js';
import type { CheckResult, CheckResults, Checked } from './check-result.js';
import { REQUEST_MS } from './context.js';
import type { ScalerFacts } from './scaler-facts.js';

/** Checks for another autoscaler with the same target. It blocks all patches, unless the scaler is in dry run. */
export async function checkOtherScaler(facts: Checked<ScalerFacts>): Promise<CheckResults> {
  const { scaler, cluster, sharesTargetWith, isDryRun, isObjectLive, make } = facts;
  const { namespace, spec } = scaler;
  const { scaleTargetRef: ref } = spec;
  const shared = sharesTargetWith === null ? [] : [otherDocument(sharesTargetWith)];
  function otherDocument(other: OtherScaler): CheckResult {
    const name = nameOtherScaler(other);
    if (spec.dryRun)
      return make.ok(`dry run next to ${name}: delete one of the two autoscalers before the dry run ends`);
    return make.failed(
      `${name} also scales ${nameTarget(namespace, ref)}: promscaler patches the target for neither of the two scalers`,
      'delete one of the two documents, or set spec.dryRun: true in one of them',
    );
  }
  if (cluster === null) return [...shared, make.skipped('the API server does not answer')];
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
    return [...shared, unlisted];
  }
  const { target } = cluster;
  const specReplicas = target instanceof KubernetesError ? null : target.specReplicas;
  const found = others
    .filter((other) => targetKey(namespace, other.target) === targetKey(namespace, ref))
    .map((each) => {
      const other = atReplicas(each, specReplicas);
      const { kind, name } = other;
      if (isDryRun) return other.whyNoCount === undefined ? make.ok(comparison(other)) : whyNothing(other);
      return make.failed(
        alsoScales(other, ref),
        `kubectl delete ${kind === 'HorizontalPodAutoscaler' ? 'hpa' : kind.toLowerCase()} ${name} -n ${namespace} (or set spec.dryRun: true to compare the two)`,
      );
    });
  const all = [...shared, ...found];
  if (all.length > 0) return all;
  const former = isDryRun ? adoptedFrom(scaler) : null;
  if (former === null) return make.ok('');
  if (isObjectLive)
    return make.warning(
      `the document has dryRun: true, but Scaler ${scalerKey(scaler)} in the cluster does not: once the document is applied, nothing scales ${nameTarget(namespace, ref)}`,
      'remove spec.dryRun from the document',
    );
  return whyNothing({ ...former, namespace }, await scaledObjectExists(facts, former));

  function whyNothing(idle: Omit<OtherScaler, 'target'>, exists: boolean | null = null): CheckResult {
    // The check `target` fails. Without a target, the end of the dry run would not help.
    if (target instanceof KubernetesError) return make.skipped('the target cannot be read');
    const why = `nothing scales ${nameTarget(namespace, ref)}: ${whyNotScaling(idle, exists)}`;
    // The result is no failure: the check `decision` warns about the pause, which must end first.
    if (spec.paused !== false) return make.ok(`the scaler is paused, and ${why}`);
    return make.failed(
      `the scaler is in dry run, and ${why}`,
      spec.dryRun ? endOfDryRun(idle, exists) : 'start the service without --dry-run',
    );
  }
}

/** Returns whether a ScaledObject exists; null: it cannot be read, or the other autoscaler is no ScaledObject. */
async function scaledObjectExists(
  { scaler: { namespace }, context }: ScalerFacts,
  { kind, name }: Origin,
): Promise<boolean | null> {
  if (kind !== SCALED_OBJECT.kind || context === null) return null;
  const { transport, signal } = context;
  const ref = { apiVersion: SCALED_OBJECT.apiVersion, kind, name };
  const workload = { transport, kind: SCALED_OBJECT, namespace, ref, signal };
  const found = await orError(() => readWorkload(workload, REQUEST_MS));
  if (!(found instanceof KubernetesError)) return true;
  return found.kind === 'not_found' ? false : null;
}

/**
 * Returns a fix with both the command and the edit of a file, because `adopt` finds only Scaler objects in the
 * cluster. `exists`: whether the ScaledObject can be described; null: unknown.
 */
function endOfDryRun(source: Omit<OtherScaler, 'target'>, exists: boolean | null): string {
  const all = takeOver(source).map(({ snippet }) => snippet.text);
  const describe = exists === false ? [] : all.slice(0, -1);
  const adopt = all.slice(-1).map((text) => `with the document in the cluster: ${text}`);
  return [...describe, ...adopt, 'in a file, remove spec.dryRun'].join('; or ');
}

function comparison(other: OtherScaler): string {
  const { desiredReplicas: count } = other;
  const wanted =
    count === undefined ? ', which has no desired replicas at 0 replicas' : ` with ${count} desired replicas`;
  return `dry run next to ${nameOtherScaler(other)}${wanted}`;
}

/** Returns the message about an HPA or ScaledObject with the target of a scaler that is not in dry run. */
export function alsoScales(other: Omit<OtherScaler, 'target'>, ref: TargetRef): string {
  const { kind, namespace, whyNoCount } = other;
  const target = nameTarget(namespace, ref);
  const what = conflictWith(other, { scales: `${nameOtherScaler(other)} also scales ${target}`, target });
  return `${what}${whyNoCount === undefined ? ':' : ';'} promscaler does not patch the target until the ${kind} is deleted`;
}
