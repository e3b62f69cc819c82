import { groupOf, nameTarget, watchedPlural } from '../../../kubernetes/targets.js';
import { KubernetesError } from '../../../kubernetes/types.js';
import { scalerKey, type Scaler } from '../../../scaler/spec.js';
import { type Finding, findingsOf } from '../finding.js';
import type { ClusterInquiry } from '../inquiry.js';
import { orNull } from '../or-error.js';
import type { ScalerFacts } from '../scaler-facts.js';
import { whereElse } from './where-else.js';

const GRANTED = ['deployments', 'statefulsets', 'replicasets'];

/** Whether the workload is there, can be read and can be scaled. */
export async function checkTarget({ scaler, cluster, inquiry }: ScalerFacts): Promise<readonly Finding[]> {
  const make = findingsOf('target', scalerKey(scaler));
  if (cluster === null || inquiry === null) return [make.skipped('the cluster does not answer')];
  const { namespace, spec } = scaler;
  const { scaleTargetRef: ref } = spec;
  const { target } = cluster;
  if (target instanceof KubernetesError) {
    switch (target.kind) {
      case 'not_found':
        return [make.failed(...(await whereElse(scaler, inquiry, target)))];
      case 'forbidden':
        return [make.failed(...(await whyForbidden(scaler, inquiry, target)))];
      case 'invalid_selector':
        return [
          make.failed(
            target.message,
            `give ${nameTarget(namespace, ref)} a selector that matches its pods (spec.selector)`,
          ),
        ];
      case 'invalid':
        return [make.failed(target.message, 'write the kind that has the replicas into spec.scaleTargetRef')];
      default:
        return [make.failed(target.message, 'try again; where it stays, look at the API server')];
    }
  }
  const { specReplicas } = target;
  if (specReplicas === 0 && spec.minReplicas > 0)
    return [
      make.warning(
        `${nameTarget(namespace, ref)} has 0 replicas, set by a person: promscaler leaves it off`,
        `kubectl scale ${watchedPlural(ref) === null ? `${ref.kind.toLowerCase()}.${groupOf(ref)}` : ref.kind.toLowerCase()}/${ref.name} -n ${namespace} --replicas=${spec.minReplicas} switches it on`,
      ),
    ];
  return [
    make.ok(
      `${nameTarget(namespace, ref)} has ${specReplicas} ${specReplicas === 1 ? 'replica' : 'replicas'}`,
    ),
  ];
}

async function whyForbidden(
  { namespace, spec }: Scaler,
  { discovery, signal }: ClusterInquiry,
  { message }: KubernetesError,
): Promise<readonly [string, string]> {
  const { scaleTargetRef: ref } = spec;
  const kind = await orNull(() => discovery.find(ref, signal));
  const plural = kind?.plural ?? `${ref.kind.toLowerCase()}s`;
  const name = groupOf(ref) === 'apps' ? plural : `${plural}.${groupOf(ref)}`;
  const targets = [...new Set([...GRANTED, name])].join(', ');
  return [
    message,
    `chart value targets: [${targets}]; where the chart's namespaces are named, ${namespace} must be among them, too`,
  ];
}
