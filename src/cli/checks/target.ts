import { groupOf, nameTarget, watchedPlural } from '../../kubernetes/targets.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { scalerKey, type Scaler } from '../../scaler/spec.js';
import { type CheckResult, resultsOf } from './check-result.js';
import type { ClusterContext } from './context.js';
import { orNull } from './or-error.js';
import type { ScalerFacts } from './scaler-facts.js';
import { explainMissingTarget } from './missing-target.js';

/** Default of the chart value `targets`. */
const CHART_TARGETS = ['deployments', 'statefulsets', 'replicasets'];

export async function checkTarget({
  scaler,
  cluster,
  context,
}: ScalerFacts): Promise<readonly CheckResult[]> {
  const make = resultsOf('target', scalerKey(scaler));
  if (cluster === null || context === null) return [make.skipped('the API server does not answer')];
  const { namespace, spec } = scaler;
  const { scaleTargetRef: ref } = spec;
  const { target } = cluster;
  if (target instanceof KubernetesError) {
    switch (target.kind) {
      case 'not_found':
        return [make.failed(...(await explainMissingTarget(scaler, context, target)))];
      case 'forbidden':
        return [make.failed(...(await explainForbidden(scaler, context, target)))];
      case 'invalid_selector':
        return [
          make.failed(
            target.message,
            `give ${nameTarget(namespace, ref)} a selector that matches its pods (spec.selector)`,
          ),
        ];
      case 'invalid':
        return [make.failed(target.message, 'set spec.scaleTargetRef to the object that has spec.replicas')];
      default:
        return [
          make.failed(target.message, 'try again; if the error persists, check the log of the API server'),
        ];
    }
  }
  const { specReplicas } = target;
  if (specReplicas === 0 && spec.minReplicas > 0)
    return [
      make.warning(
        `${nameTarget(namespace, ref)} was scaled to 0 manually: promscaler does not scale it`,
        `kubectl scale ${watchedPlural(ref) === null ? `${ref.kind.toLowerCase()}.${groupOf(ref)}` : ref.kind.toLowerCase()}/${ref.name} -n ${namespace} --replicas=${spec.minReplicas} enables scaling again`,
      ),
    ];
  return [
    make.ok(
      `${nameTarget(namespace, ref)} has ${specReplicas} ${specReplicas === 1 ? 'replica' : 'replicas'}`,
    ),
  ];
}

async function explainForbidden(
  { namespace, spec }: Scaler,
  { discovery, signal }: ClusterContext,
  { message }: KubernetesError,
): Promise<readonly [string, string]> {
  const { scaleTargetRef: ref } = spec;
  const kind = await orNull(() => discovery.find(ref, signal));
  const plural = kind?.plural ?? `${ref.kind.toLowerCase()}s`;
  const name = groupOf(ref) === 'apps' ? plural : `${plural}.${groupOf(ref)}`;
  const targets = [...new Set([...CHART_TARGETS, name])].join(', ');
  return [
    message,
    `chart value targets: [${targets}]; if the chart value namespaces is set, add ${namespace}`,
  ];
}
