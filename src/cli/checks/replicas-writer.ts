import { fixOfTool, isClientSideApply, nameTool } from '../../decision/replicas-writers.js';
import { type JsonObject, objectIn, objectsIn, textsIn } from '../../kubernetes/api/json.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { parseObject } from '../../prometheus/answers/classify.js';
import { listSome } from '../../units/format.js';
import { type Checked, type CheckResult, resultsOf } from './check-result.js';
import { CLUSTER_SUBJECT } from './context.js';
import type { ScalerFacts } from './scaler-facts.js';
import { groupBy } from '../../units/maps.js';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** A warning about a tool that has set the replicas of a workload. */
interface ToolWarning extends CheckResult {
  readonly tool: string;
  readonly workload: string;
  readonly isDryRun: boolean;
}

/**
 * Fails if the service reports a client that repeatedly changes `spec.replicas`. Warns if a deployment tool has set the
 * field, because the next run of the tool would reset the replicas. Also warns during a dry run, because the next run
 * of the tool after the dry run would reset the replicas.
 */
export function checkReplicasWriter({
  cluster,
  isDryRun,
  reported,
  make,
}: Checked<ScalerFacts>): CheckResult | ToolWarning {
  if (reported?.state === 'Conflict') return make.failed(reported.message, reported.fix);
  if (cluster === null) return make.skipped('the API server does not answer');
  const { target } = cluster;
  if (target instanceof KubernetesError) return make.skipped('the target cannot be read');
  const managers = target.replicasManagers ?? [];
  const reset = findReset(cluster.object, managers, { namespace: target.namespace, target: target.ref });
  if (reset !== null) {
    const { tool, fix } = reset;
    const workload = nameTarget(target.namespace, target.ref);
    return { ...make.warning(describeReset(tool, [workload], isDryRun), fix), tool, workload, isDryRun };
  }
  const [subject, verb] = managers.length === 1 ? ['manager', 'is'] : ['managers', 'are'];
  const who = `the field ${subject} of spec.replicas ${verb} ${listSome(managers)}`;
  return make.ok(managers.length === 0 ? '' : who);
}

/** A deployment tool whose next run may reset `spec.replicas`. */
interface Reset {
  /** The field manager of the tool. */
  readonly tool: string;
  /** How the tool stops setting the field. */
  readonly fix: string;
}

/**
 * Returns the deployment tool whose next run may reset the replicas of a workload; null: none is known. `managers`: the
 * field managers of `spec.replicas`.
 */
export function findReset(
  object: JsonObject | null,
  managers: readonly string[],
  workload: Parameters<typeof fixOfTool>[1],
): Reset | null {
  const hasApplied = objectsIn(objectIn(object, 'metadata'), 'managedFields').some(
    ({ manager }) => manager === CLIENT_SIDE_APPLY,
  );
  // After another client has set the count, kubectl no longer owns the field, but the next apply still resets it.
  for (const tool of new Set([...managers, ...(hasApplied ? [CLIENT_SIDE_APPLY] : [])])) {
    const fix = fixOfTool(tool, workload);
    if (fix !== null && (!isClientSideApply(tool) || appliesReplicas(object))) return { tool, fix };
  }
  return null;
}

export function describeReset(manager: string, workloads: readonly string[], isDryRun: boolean): string {
  const [first = '', ...more] = workloads;
  const tool = nameTool(manager);
  const run = `${isDryRun ? 'after the dry run, ' : ''}each run of ${tool}`;
  return more.length === 0
    ? `${tool} has set spec.replicas of ${first}: ${run} may reset the replica count`
    : `${tool} has set spec.replicas of ${workloads.length} workloads (${listSome(workloads)}): ${run} may reset their replica counts`;
}

const CLIENT_SIDE_APPLY = 'kubectl-client-side-apply';

/**
 * Returns whether the manifest that kubectl has last applied sets `spec.replicas`; true if the manifest is unknown.
 * If the manifest does not set it, client-side apply owns the field only because of the server's default, and does not
 * reset it.
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
  const groups = groupBy(warnings, groupOf);
  const combined = [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length === 1) return [];
    const workloads = group.map(({ workload }) => workload);
    const fix = `${isClientSideApply(first.tool) ? `for each of these workloads, as here for ${first.workload}: ` : ''}${first.fix ?? ''}`;
    return [warning(describeReset(first.tool, workloads, first.isDryRun), fix)];
  });
  return [
    ...combined,
    ...results.map((result) => {
      if (!('tool' in result)) return result;
      const { check, status, subject, message, fix } = result;
      const isCombined = (groups.get(groupOf(result))?.length ?? 0) > 1;
      return isCombined
        ? resultsOf('replicas-writer', subject).ok('')
        : { check, status, subject, message, fix };
    }),
  ];
}

function groupOf({ tool, isDryRun }: ToolWarning): string {
  return `${tool} ${isDryRun}`;
}
