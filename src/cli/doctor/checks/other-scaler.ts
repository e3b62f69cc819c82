import { targetKey } from '../../../control/observe/shared-targets.js';
import { nameTarget } from '../../../kubernetes/targets.js';
import { KubernetesError, type OtherScaler } from '../../../kubernetes/types.js';
import { scalerKey } from '../../../scaler/spec.js';
import { type Finding, findingsOf } from '../finding.js';
import type { ScalerFacts } from '../scaler-facts.js';

/**
 * Whether another autoscaler works on the same target: then nothing is patched until it is gone. Next to a dry run it is
 * what promscaler is compared with.
 */
export function checkOtherScaler(facts: ScalerFacts): readonly Finding[] {
  const { scaler, cluster, sharesTargetWith, isDryRun } = facts;
  const make = findingsOf('other-scaler', scalerKey(scaler));
  const { namespace, spec } = scaler;
  const { scaleTargetRef: ref } = spec;
  const shared =
    sharesTargetWith === null
      ? []
      : [
          make.failed(
            `${sharesTargetWith} scales ${nameTarget(namespace, ref)} as well: neither patches it`,
            'take one of the two documents away',
          ),
        ];
  if (cluster === null) return [...shared, make.skipped('the cluster does not answer')];
  const { others } = cluster;
  if (others instanceof KubernetesError)
    return [
      ...shared,
      make.warning(
        `whether an HPA works on the same target cannot be seen: ${others.message}`,
        'chart value rbac.create: true (list on horizontalpodautoscalers)',
      ),
    ];
  const found = others
    .filter(({ target }) => targetKey(namespace, target) === targetKey(namespace, ref))
    .map((other) => {
      const { kind, name } = other;
      if (isDryRun) return make.ok(comparison(other));
      return make.failed(
        `${kind} ${namespace}/${name} scales ${nameTarget(namespace, ref)}, too: promscaler patches nothing until it is gone`,
        `kubectl delete ${kind === 'HorizontalPodAutoscaler' ? 'hpa' : kind.toLowerCase()} ${name} -n ${namespace} (or dryRun: true here, to compare the two)`,
      );
    });
  const all = [...shared, ...found];
  return all.length === 0 ? [make.ok('')] : all;
}

function comparison({ kind, namespace, name, desiredReplicas }: OtherScaler): string {
  const wanted =
    desiredReplicas === undefined
      ? 'has not computed a replica count, so there is nothing to compare yet'
      : `wants ${desiredReplicas}; promscaler_shadow_difference_replicas compares the two`;
  return `dry run next to ${kind} ${namespace}/${name}, which ${wanted}`;
}
