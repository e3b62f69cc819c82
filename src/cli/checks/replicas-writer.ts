import { fixOfTool } from '../../decision/replicas-writers.js';
import { type JsonObject, objectIn, objectsIn, textsIn } from '../../kubernetes/api/json.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { parseObject } from '../../prometheus/answers/classify.js';
import { scalerKey } from '../../scaler/spec.js';
import { listSome } from '../../units/format.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { CLUSTER_SUBJECT } from './context.js';
import type { ScalerFacts } from './scaler-facts.js';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** A warning about a tool that has set the replicas of a workload. */
interface ToolWarning extends CheckResult {
  readonly tool: string;
  readonly workload: string;
}

/**
 * Fails if the service reports a client that keeps changing `spec.replicas`. Warns if a deployment tool owns the field,
 * because its next run would reset it.
 */
export function checkReplicasWriter({
  scaler,
  cluster,
  isDryRun,
  reported,
}: ScalerFacts): readonly (CheckResult | ToolWarning)[] {
  const make = resultsOf('replicas-writer', scalerKey(scaler));
  if (reported?.state === 'Conflict') return [make.failed(reported.message, reported.fix)];
  if (cluster === null) return [make.skipped('the API server does not answer')];
  const { target } = cluster;
  if (target instanceof KubernetesError) return [make.skipped('the target cannot be read')];
  const managers = target.replicasManagers ?? [];
  const hasApplied = objectsIn(objectIn(cluster.object, 'metadata'), 'managedFields').some(
    ({ manager }) => manager === CLIENT_SIDE_APPLY,
  );
  // After promscaler has set the count, kubectl no longer owns the field, but the next apply still resets it.
  const tools = new Set([...managers, ...(hasApplied ? [CLIENT_SIDE_APPLY] : [])]);
  for (const manager of isDryRun ? [] : tools) {
    const fix = fixOfTool(manager);
    if (fix === null || (isClientSideApply(manager) && !appliesReplicas(cluster.object))) continue;
    const workload = nameTarget(target.namespace, target.ref);
    const message = `${manager} has set spec.replicas of ${workload}: each run of ${manager} may reset the replica count`;
    return [{ ...make.warning(message, fix), tool: manager, workload }];
  }
  const [subject, verb] = managers.length === 1 ? ['manager', 'is'] : ['managers', 'are'];
  const who = `the field ${subject} of spec.replicas ${verb} ${listSome(managers)}`;
  return [make.ok(managers.length === 0 ? '' : who)];
}

const CLIENT_SIDE_APPLY = 'kubectl-client-side-apply';

function isClientSideApply(manager: string): boolean {
  return manager === CLIENT_SIDE_APPLY || manager === 'before-first-apply';
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
export function combineReplicasWriters(
  results: readonly (CheckResult | ToolWarning)[],
): readonly CheckResult[] {
  const { warning } = resultsOf('replicas-writer', CLUSTER_SUBJECT);
  const warnings = results.filter((result) => 'tool' in result);
  const tools = [...new Set(warnings.map(({ tool }) => tool))].map((tool) =>
    warnings.filter((one) => one.tool === tool),
  );
  const combined = tools.flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length === 1) return [];
    const { tool, fix } = first;
    const workloads = `${group.length} workloads (${listSome(group.map(({ workload }) => workload))})`;
    const message = `${tool} has set spec.replicas of ${workloads}: each run of ${tool} may reset their replica counts`;
    return [{ tool, result: warning(message, fix ?? '') }];
  });
  return [
    ...combined.map(({ result }) => result),
    ...results.map((result) => {
      if (!('tool' in result)) return result;
      const { check, status, subject, message, fix, tool } = result;
      const isCombined = combined.some((one) => one.tool === tool);
      return isCombined
        ? resultsOf('replicas-writer', subject).ok('')
        : { check, status, subject, message, fix };
    }),
  ];
}
