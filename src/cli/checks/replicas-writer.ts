import { nameTarget } from '../../kubernetes/targets.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { scalerKey } from '../../scaler/spec.js';
import { type CheckResult, resultsOf } from './check-result.js';
import type { ScalerFacts } from './scaler-facts.js';

/** Field managers of deployment tools that set `spec.replicas`, and how to make each tool ignore the field. */
const PIPELINES: readonly (readonly [RegExp, string])[] = [
  [
    /^argocd|^argo-cd/i,
    'remove spec.replicas from the manifest, or configure Argo CD: ignoreDifferences: [{ group: apps, kind: Deployment, jsonPointers: [/spec/replicas] }] with syncOptions: [RespectIgnoreDifferences=true]',
  ],
  [
    /^(?:kustomize-controller|flux|gotk)/i,
    'remove spec.replicas from the manifest in the repository that Flux applies',
  ],
  [
    /helm/i,
    'remove replicas from the template of the chart (in most charts, autoscaling.enabled: true or replicaCount: null does this)',
  ],
  [
    /^terraform|hashicorp/i,
    'add lifecycle { ignore_changes = [spec[0].replicas] } to the Terraform resource',
  ],
  [/^pulumi/i, 'add ignoreChanges: ["spec.replicas"] to the Pulumi resource'],
  [
    /^kubectl-client-side-apply$|^before-first-apply$|apply/i,
    'remove spec.replicas from the manifest that is applied',
  ],
];

const OWN_NAME = 'promscaler';

/** Warns if a deployment tool owns `spec.replicas`, because its next run would reset the field. */
export function checkReplicasWriter({ scaler, cluster }: ScalerFacts): readonly CheckResult[] {
  const make = resultsOf('replicas-writer', scalerKey(scaler));
  if (cluster === null) return [make.skipped('the API server does not answer')];
  const { target } = cluster;
  if (target instanceof KubernetesError) return [make.skipped('the target cannot be read')];
  const managers = target.replicasManagers ?? [];
  const others = managers.filter((manager) => manager !== OWN_NAME);
  for (const manager of others) {
    const pipeline = PIPELINES.find(([pattern]) => pattern.test(manager));
    if (pipeline === undefined) continue;
    const [, fix] = pipeline;
    return [
      make.warning(
        `${manager} has set spec.replicas of ${nameTarget(target.namespace, target.ref)}: each run of ${manager} may reset the replica count`,
        fix,
      ),
    ];
  }
  return [make.ok(managers.length === 0 ? '' : `field manager of spec.replicas: ${managers.join(', ')}`)];
}
