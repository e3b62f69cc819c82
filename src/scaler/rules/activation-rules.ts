import { type Finding, finding } from '../problems/finding.js';
import { BUILT_IN } from '../schema/presets.js';
import type { Loose, SpecInput } from '../schema/document-schema.js';

/** Warnings of an activation that never takes part: it looks as if it did. */
export function checkActivation(spec: Loose<SpecInput>): readonly Finding[] {
  const metrics = spec.metrics ?? [];
  const index = metrics.findIndex((metric) => activationOf(metric) !== undefined);
  const goesToZero =
    spec.minReplicas === 0 || (spec.schedules ?? []).some((schedule) => schedule?.minReplicas === 0);
  if (index >= 0 && !goesToZero) {
    const member = metrics[index]?.object === undefined ? 'external' : 'object';
    const path = ['spec', 'metrics', index, member, 'activation'];
    const message = `spec.metrics[${index}].${member}.activation does nothing: spec.minReplicas is ${spec.minReplicas ?? 1}, not 0`;
    return [finding('activation-unused', path, message)];
  }
  // Written down at its default it misleads nobody.
  const { cooldownSeconds = BUILT_IN.cooldownSeconds } = spec;
  if (index >= 0 || cooldownSeconds === BUILT_IN.cooldownSeconds) return [];
  const message = 'spec.cooldownSeconds does nothing: no metric has an activation';
  return [finding('activation-unused', ['spec', 'cooldownSeconds'], message)];
}

function activationOf(metric: NonNullable<Loose<SpecInput>['metrics']>[number]): unknown {
  return metric?.object?.activation ?? metric?.external?.activation;
}
