import { type Finding, finding } from '../problems/finding.js';
import { BUILT_IN } from '../schema/presets.js';
import type { Loose, SpecInput } from '../schema/document-schema.js';

export function checkActivation(spec: Loose<SpecInput>): readonly Finding[] {
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
  // No warning for a value that equals the default.
  const { cooldownSeconds = BUILT_IN.cooldownSeconds } = spec;
  if (index >= 0 || cooldownSeconds === BUILT_IN.cooldownSeconds) return [];
  const message = 'spec.cooldownSeconds has no effect: no metric has an activation';
  return [finding('activation-unused', ['spec', 'cooldownSeconds'], message)];
}

function activationOf(metric: NonNullable<Loose<SpecInput>['metrics']>[number]): unknown {
  return metric?.object?.activation ?? metric?.external?.activation;
}
