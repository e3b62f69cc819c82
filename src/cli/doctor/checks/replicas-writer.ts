import { nameTarget } from '../../../kubernetes/targets.js';
import { KubernetesError } from '../../../kubernetes/types.js';
import { scalerKey } from '../../../scaler/spec.js';
import { type Finding, findingsOf } from '../finding.js';
import type { ScalerFacts } from '../scaler-facts.js';

/** Field managers that set the replicas of a manifest again and again, and what takes the field from them. */
const APPLIERS: readonly (readonly [RegExp, string])[] = [
  [
    /^argocd|^argo-cd/i,
    'take spec.replicas out of the manifest, or tell Argo CD: ignoreDifferences: [{ group: apps, kind: Deployment, jsonPointers: [/spec/replicas] }] with syncOptions: [RespectIgnoreDifferences=true]',
  ],
  [
    /^(?:kustomize-controller|flux|gotk)/i,
    'take spec.replicas out of the manifest in the repository that Flux applies',
  ],
  [
    /helm/i,
    "take replicas out of the chart's template (most charts: autoscaling.enabled: true, or replicaCount: null)",
  ],
  [/^terraform|hashicorp/i, 'lifecycle { ignore_changes = [spec[0].replicas] } in the Terraform resource'],
  [/^pulumi/i, 'ignoreChanges: ["spec.replicas"] in the Pulumi resource'],
  [
    /^kubectl-client-side-apply$|^before-first-apply$|apply/i,
    'take spec.replicas out of the manifest that is applied',
  ],
];

const OWN_NAME = 'promscaler';

/** Who has set `spec.replicas`, and whether that will set it again with the next deployment. */
export function checkReplicasWriter({ scaler, cluster }: ScalerFacts): readonly Finding[] {
  const make = findingsOf('replicas-writer', scalerKey(scaler));
  if (cluster === null) return [make.skipped('the cluster does not answer')];
  const { target } = cluster;
  if (target instanceof KubernetesError) return [make.skipped('the target cannot be read')];
  const managers = target.replicasManagers ?? [];
  const others = managers.filter((manager) => manager !== OWN_NAME);
  for (const manager of others) {
    const applier = APPLIERS.find(([pattern]) => pattern.test(manager));
    if (applier === undefined) continue;
    const [, mend] = applier;
    return [
      make.warning(
        `spec.replicas of ${nameTarget(target.namespace, target.ref)} was set by ${manager}: where it does so with every deployment, the count jumps back each time`,
        mend,
      ),
    ];
  }
  return [make.ok(managers.length === 0 ? '' : `replicas last set by ${managers.join(', ')}`)];
}
