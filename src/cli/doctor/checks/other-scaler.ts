import { targetKey } from '../../../control/conflicts.js';
import { nameTarget } from '../../../kubernetes/targets.js';
import { KubernetesError } from '../../../kubernetes/types.js';
import { scalerKey } from '../../../scaler/spec.js';
import { type Finding, findingsOf } from '../finding.js';
import type { ScalerFacts } from '../scaler-facts.js';

/** Whether another autoscaler works on the same target: then nothing is patched until it is gone. */
export function checkOtherScaler({ scaler, cluster, sharesTargetWith }: ScalerFacts): readonly Finding[] {
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
    .map(({ kind, name }) =>
      make.failed(
        `${kind} ${namespace}/${name} scales ${nameTarget(namespace, ref)}, too: promscaler patches nothing until it is gone`,
        `kubectl delete ${kind === 'HorizontalPodAutoscaler' ? 'hpa' : kind.toLowerCase()} ${name} -n ${namespace} (or dryRun: true here, to compare the two)`,
      ),
    );
  const all = [...shared, ...found];
  return all.length === 0 ? [make.ok('')] : all;
}
