import { type JsonObject, objectIn, textsIn } from '../../kubernetes/api/json.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { parseObject } from '../../prometheus/answers/classify.js';
import { scalerKey } from '../../scaler/spec.js';
import { listSome } from '../../units/format.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { CLUSTER_SUBJECT } from './context.js';
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

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Warns if a deployment tool owns `spec.replicas`, because its next run would reset the field. */
export function checkReplicasWriter({ scaler, cluster, isDryRun }: ScalerFacts): readonly CheckResult[] {
  const make = resultsOf('replicas-writer', scalerKey(scaler));
  if (cluster === null) return [make.skipped('the API server does not answer')];
  const { target } = cluster;
  if (target instanceof KubernetesError) return [make.skipped('the target cannot be read')];
  const managers = target.replicasManagers ?? [];
  const others = managers.filter((manager) => manager !== OWN_NAME);
  for (const manager of isDryRun ? [] : others) {
    const pipeline = PIPELINES.find(([pattern]) => pattern.test(manager));
    if (pipeline === undefined || (isClientSideApply(manager) && !appliesReplicas(cluster.object))) continue;
    const [, fix] = pipeline;
    return [
      make.warning(
        `${manager} has set spec.replicas of ${nameTarget(target.namespace, target.ref)}: each run of ${manager} may reset the replica count`,
        fix,
      ),
    ];
  }
  const [subject, verb] = managers.length === 1 ? ['manager', 'is'] : ['managers', 'are'];
  const who = `the field ${subject} of spec.replicas ${verb} ${listSome(managers)}`;
  return [make.ok(managers.length === 0 ? '' : who)];
}

function isClientSideApply(manager: string): boolean {
  return manager === 'kubectl-client-side-apply' || manager === 'before-first-apply';
}

/**
 * Returns whether the manifest that kubectl has last applied sets `spec.replicas`; true if the manifest is unknown.
 * Otherwise, client-side apply owns the field only because the server has set a default, and does not reset it.
 */
function appliesReplicas(object: JsonObject | null): boolean {
  const text = textsIn(objectIn(object, 'metadata'), 'annotations')[LAST_APPLIED];
  const applied = text === undefined ? null : parseObject(text);
  return applied === null || objectIn(applied, 'spec')?.['replicas'] !== undefined;
}

/** Combines warnings about the same tool for several workloads, because all need the same fix. */
export function combineReplicasWriters(results: readonly CheckResult[]): readonly CheckResult[] {
  const byTool = new Map<string, { readonly targets: string[]; readonly result: CheckResult }>();
  for (const result of results) {
    const [, tool, target = ''] = WARNING.exec(result.message) ?? [];
    if (result.check !== 'replicas-writer' || tool === undefined) continue;
    const group = byTool.get(tool);
    if (group === undefined) byTool.set(tool, { targets: [target], result });
    else group.targets.push(target);
  }
  const combined = [...byTool].filter(([, { targets }]) => targets.length > 1);
  const tools = new Set(combined.map(([tool]) => tool));
  const { warning } = resultsOf('replicas-writer', CLUSTER_SUBJECT);
  const isOfOne = ({ check, message }: CheckResult): boolean =>
    check !== 'replicas-writer' || !tools.has(WARNING.exec(message)?.[1] ?? '');
  return [
    ...combined.map(([tool, { targets, result }]) =>
      warning(
        `${tool} has set spec.replicas of ${targets.length} workloads (${listSome(targets)}): each run of ${tool} may reset their replica counts`,
        result.fix ?? '',
      ),
    ),
    ...results.map((result) =>
      isOfOne(result) ? result : resultsOf('replicas-writer', result.subject).ok(''),
    ),
  ];
}

const WARNING = /^(\S+) has set spec\.replicas of (\S+ \S+): /;
