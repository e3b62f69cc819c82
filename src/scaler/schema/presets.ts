import type { Preset, ScalerSpec, ScalingPolicy } from '../spec.js';

/** The values of a preset. Null: the preset does not set the field, and `BUILT_IN` applies. */
export interface PresetValues {
  readonly scaleUpLimitFactor: number | null;
  readonly scaleUpLimitMinimum: number | null;
  readonly upscaleForbiddenWindowSeconds: number;
  readonly downscaleForbiddenWindowSeconds: number;
  readonly forbiddenWindowsSince: ScalerSpec['forbiddenWindowsSince'];
  readonly downscaleStabilizationSeconds: number;
}

/** The values of each preset. Source: contract.md section 2. */
export const PRESETS: Readonly<Record<Preset, PresetValues>> = {
  hpa: {
    scaleUpLimitFactor: null,
    scaleUpLimitMinimum: null,
    upscaleForbiddenWindowSeconds: 0,
    downscaleForbiddenWindowSeconds: 0,
    forbiddenWindowsSince: 'SameDirection',
    downscaleStabilizationSeconds: 300,
  },
  chpa: {
    scaleUpLimitFactor: 2,
    scaleUpLimitMinimum: 4,
    upscaleForbiddenWindowSeconds: 300,
    downscaleForbiddenWindowSeconds: 300,
    forbiddenWindowsSince: 'AnyRescale',
    downscaleStabilizationSeconds: 0,
  },
  'hpa-1.11': {
    scaleUpLimitFactor: null,
    scaleUpLimitMinimum: null,
    upscaleForbiddenWindowSeconds: 180,
    downscaleForbiddenWindowSeconds: 300,
    forbiddenWindowsSince: 'AnyRescale',
    downscaleStabilizationSeconds: 0,
  },
};

/** The defaults that are equal in all presets. Fields of the HPA have the defaults of the HPA. */
export const BUILT_IN = {
  preset: 'hpa',
  targetApiVersion: 'apps/v1',
  targetKind: 'Deployment',
  minReplicas: 1,
  tolerance: 0.1,
  scaleUpLimitFactor: 2,
  scaleUpLimitMinimum: 4,
  cpuInitializationPeriodSeconds: 300,
  initialReadinessDelaySeconds: 30,
  confirmationSeconds: 60,
  confirmationDecisions: 3,
  podWarmupSeconds: 0,
  capacityMode: 'Observe',
  saturationFactor: 2,
  syncPeriodSeconds: 15,
  cooldownSeconds: 300,
  source: 'default',
  timeZone: 'UTC',
  forecastMode: 'Observe',
  forecastLookback: '15d',
  forecastQuantile: 0.8,
  forecastFillPercent: 95,
  forecastLead: 'auto',
  forecastBudgetPercent: 4,
  rampSeconds: 0,
  fallbackMode: 'atLeast',
  deletionOrder: 'ascending',
  cpuUtilizationPercent: 80,
  missingPolicy: 'error',
  selectPolicy: 'Max',
  scaleUpStabilizationWindowSeconds: 0,
  dryRun: false,
  paused: false,
} as const;

/** The policies of a `behavior` that sets none. Source: algorithm.md, point 29. */
export const DEFAULT_POLICIES: Readonly<Record<'scaleUp' | 'scaleDown', readonly ScalingPolicy[]>> = {
  scaleUp: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
  scaleDown: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
};
