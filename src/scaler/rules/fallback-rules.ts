import { type Finding, type IsBroken, finding } from '../problems/finding.js';
import { BUILT_IN } from '../schema/presets.js';
import type { Loose, SpecInput } from '../schema/document-schema.js';

const PATH = ['spec', 'fallback'];

export function checkFallback(spec: Loose<SpecInput>, isBroken: IsBroken): readonly Finding[] {
  const { fallback } = spec;
  if (fallback === undefined || (Object.keys(fallback).length === 0 && !isBroken(PATH))) return [];
  for (const field of ['afterSeconds', 'replicas'] as const)
    if (fallback[field] === undefined && !isBroken([...PATH, field]))
      return [finding('missing-field', [...PATH, field], `spec.fallback.${field} is missing`)];
  const { replicas, mode } = fallback;
  const path = [...PATH, 'replicas'];
  const { minReplicas = BUILT_IN.minReplicas, maxReplicas } = spec;
  if (replicas === undefined) return [];
  if (maxReplicas !== undefined && replicas > maxReplicas) {
    const message = `spec.fallback.replicas is ${replicas}, must be at most spec.maxReplicas (${maxReplicas})`;
    return [finding('replica-bounds', path, message)];
  }
  if (replicas < minReplicas) {
    const message = `spec.fallback.replicas is ${replicas}, must be at least spec.minReplicas (${minReplicas})`;
    return [finding('replica-bounds', path, message)];
  }
  if (mode !== 'exact') return [];
  const message = `spec.fallback.mode is exact: a missing metric may scale down to ${replicas}`;
  return [finding('missing-scales-down', [...PATH, 'mode'], message)];
}
