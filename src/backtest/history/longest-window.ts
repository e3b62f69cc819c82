import type { Scaler, ScalingRules } from '../../scaler/spec.js';

/** Returns how far back a decision of a document depends on earlier ones, in seconds. */
export function longestWindowSeconds({ spec }: Scaler): number {
  const { behavior, downscaleConfirmation, fallback } = spec;
  return Math.max(
    spec.downscaleStabilizationSeconds,
    spec.upscaleForbiddenWindowSeconds,
    spec.downscaleForbiddenWindowSeconds,
    downscaleConfirmation?.seconds ?? 0,
    fallback?.afterSeconds ?? 0,
    spec.minReplicas === 0 ? spec.cooldownSeconds : 0,
    ...[behavior?.scaleUp, behavior?.scaleDown].map(windowOfRules),
  );
}

function windowOfRules(rules: ScalingRules | undefined): number {
  if (rules === undefined) return 0;
  return Math.max(
    rules.stabilizationWindowSeconds,
    ...rules.policies.map(({ periodSeconds }) => periodSeconds),
  );
}
