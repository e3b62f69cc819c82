import { listVariables } from '../../promql/variables.js';
import { type LabelMatcher, vectorSelectors } from '../../promql/vector-selectors.js';
import { type Finding, type IsBroken, finding, formatPath } from '../problems/finding.js';
import { BUILT_IN } from '../schema/presets.js';
import type { Loose, SpecInput } from '../schema/document-schema.js';
import { OTHER_WORK } from '../spec.js';

export function checkActivation(spec: Loose<SpecInput>, isBroken: IsBroken): readonly Finding[] {
  if (['minReplicas', 'schedules', 'metrics'].some((field) => isBroken(['spec', field]))) return [];
  const metrics = spec.metrics ?? [];
  const index = metrics.findIndex((metric) => activationOf(metric) !== undefined);
  const goesToZero =
    spec.minReplicas === 0 || (spec.schedules ?? []).some((schedule) => schedule?.minReplicas === 0);
  if (index >= 0 && !goesToZero) {
    const member = metrics[index]?.object === undefined ? 'external' : 'object';
    const path = ['spec', 'metrics', index, member, 'activation'];
    const message = `spec.metrics[${index}].${member}.activation has no effect: spec.minReplicas is ${spec.minReplicas ?? 1}, not 0`;
    return [finding('activation-unused', path, message)];
  }
  // The default of `cooldownSeconds` causes no warning, even if the document sets it.
  const { cooldownSeconds = BUILT_IN.cooldownSeconds } = spec;
  if (index >= 0 || cooldownSeconds === BUILT_IN.cooldownSeconds) return [];
  const message = 'spec.cooldownSeconds has no effect: no metric has an activation';
  return [finding('activation-unused', ['spec', 'cooldownSeconds'], message)];
}

/**
 * Reports a workload that may be scaled to 0 and that no metric starts again, because all metrics that could activate
 * it come from its own pods.
 */
export function checkWakeUp(spec: Loose<SpecInput>, zero: string): readonly Finding[] {
  const { metrics = [], scaleTargetRef } = spec;
  const queries = metrics.flatMap((metric, index) => {
    const member = metric?.object === undefined ? 'external' : 'object';
    const query = metric?.[member]?.query;
    return query === undefined ? [] : [{ path: ['spec', 'metrics', index, member, 'query'], query }];
  });
  const [first] = queries;
  const name = scaleTargetRef?.name;
  if (first === undefined || !queries.every(({ query }) => selectsOwnPods(name, query))) return [];
  const message = `${formatPath(first.path)} measures the pods of the workload and has no value without pods, but ${zero} is 0: from 0 replicas, ${whatStarts(spec).text}. Query ${OTHER_WORK}`;
  return [finding('never-wakes-up', first.path, message)];
}

/**
 * Returns what starts a workload that was scaled to 0 if no metric does: the end of the schedule that allows 0, another
 * schedule, or nothing (`isNever`).
 */
export function whatStarts({
  minReplicas = BUILT_IN.minReplicas,
  schedules = [],
}: {
  readonly minReplicas?: number | undefined;
  readonly schedules?:
    readonly ({ readonly minReplicas?: number | null | undefined } | undefined)[] | undefined;
}): { readonly text: string; readonly isNever: boolean } {
  const indexOf = (isWanted: (floor: number) => boolean): number =>
    schedules.findIndex((schedule) => schedule?.minReplicas != null && isWanted(schedule.minReplicas));
  if (minReplicas > 0) {
    const text = `the workload does not start again before the period of spec.schedules[${indexOf((floor) => floor === 0)}] ends`;
    return { text, isNever: false };
  }
  const index = indexOf((floor) => floor > 0);
  return index < 0
    ? { text: 'the workload never starts again', isNever: true }
    : { text: `only spec.schedules[${index}] starts the workload again`, isNever: false };
}

/** Labels that contain the name of the pod that exposes a series. */
export const POD_LABELS: readonly string[] = ['pod', 'pod_name', 'kubernetes_pod_name', 'k8s_pod_name'];

/**
 * Returns whether the query selects pods of the workload: by the variable `$pods`, or by name, such as
 * `pod=~"web-.*"`. Pods of a workload `web-api` are not pods of `web`.
 */
export function selectsOwnPods(workload: string | undefined, query: string): boolean {
  if (listVariables(query).some(({ name }) => name === 'pods')) return true;
  if (workload === undefined) return false;
  const selectors = vectorSelectors(query);
  const isOwn = ({ label, operator, value }: LabelMatcher): boolean =>
    POD_LABELS.includes(label) &&
    operator === '=~' &&
    value.startsWith(`${workload}-`) &&
    /^[.[\\(]/.test(value.slice(workload.length + 1));
  return selectors.length > 0 && selectors.every(({ matchers }) => matchers.some(isOwn));
}

function activationOf(metric: NonNullable<Loose<SpecInput>['metrics']>[number]): unknown {
  return metric?.object?.activation ?? metric?.external?.activation;
}
