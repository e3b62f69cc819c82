import type { MetricSpec } from '../../scaler/spec.js';
import type { TunedSettings } from './tuned-settings.js';

/** A low target reacts sooner, because usage ends at 100 %. Near a high one, each point counts. */
const PERCENT = [50, 60, 70, 75, 80, 82, 84, 86, 88, 90, 92] as const;
const FACTORS = [0.6, 0.75, 0.85, 0.95, 1, 1.05, 1.1, 1.2, 1.35] as const;
const LOWEST_PERCENT = 20;
/** A pod that is busier than that hides how much more it would have to do. */
const HIGHEST_PERCENT = 95;
const DOWN_SECONDS = [60, 120, 180, 240, 300, 450] as const;
const TOLERANCES = [0.01, 0.05, 0.1] as const;

/** The coarse grid: target of the metric, stabilization of scale-downs, tolerance. */
export function coarseSettings(present: TunedSettings, metric: MetricSpec): readonly TunedSettings[] {
  const targets =
    metric.target.type === 'Utilization'
      ? [...PERCENT, ...[-5, 2, 4].map((step) => present.target + step)].filter(isPercent)
      : FACTORS;
  const all: TunedSettings[] = [];
  for (const target of new Set([present.target, ...targets]))
    for (const downSeconds of new Set([present.downSeconds, ...DOWN_SECONDS]))
      for (const tolerance of new Set([present.upTolerance, ...TOLERANCES]))
        all.push({ ...present, target, downSeconds, upTolerance: tolerance, downTolerance: tolerance });
  return all;
}

/** Settings that differ from these in one respect. */
export function neighbours(settings: TunedSettings, metric: MetricSpec): readonly TunedSettings[] {
  const { target, downSeconds, upTolerance, downTolerance } = settings;
  const isUtilization = metric.target.type === 'Utilization';
  const targets = isUtilization
    ? [-2, -1, 1, 2].map((step) => target + step).filter(isPercent)
    : [-0.03, 0.03].map((step) => Number((target + step).toFixed(2)));
  const windows = [0.5, 0.8, 0.9, 1.1, 1.25].map((factor) => Math.round((factor * downSeconds) / 15) * 15);
  const near: TunedSettings[] = [
    ...targets.map((value) => ({ ...settings, target: value })),
    ...windows.map((value) => ({ ...settings, downSeconds: value })),
    ...[0.01, 0.05, 0.1].map((value) => ({ ...settings, upTolerance: value })),
    ...[0.01, 0.05, 0.1, 0.2].map((value) => ({ ...settings, downTolerance: value })),
    ...[null, 50, 20, 10].map((value) => ({ ...settings, downPercent: value })),
    ...[null, 4, 10].map((value) => ({ ...settings, upFactor: value })),
    ...[0, 30, 60].map((value) => ({ ...settings, upSeconds: value })),
    // Slow scale-downs need a shorter window to cost no more.
    ...[50, 20, 10].map((value) => ({
      ...settings,
      downPercent: value,
      downSeconds: Math.round((0.6 * downSeconds) / 15) * 15,
    })),
    // The same point of scale-up with a narrower band.
    ...(isUtilization && isPercent(target + 4)
      ? [
          {
            ...settings,
            target: target + 4,
            upTolerance: Math.max(0.01, upTolerance - 0.05),
            downTolerance: Math.max(0.01, downTolerance - 0.05),
          },
        ]
      : []),
  ];
  const own = JSON.stringify(settings);
  return near.filter((other) => other.downSeconds >= 0 && JSON.stringify(other) !== own);
}

function isPercent(value: number): boolean {
  return value >= LOWEST_PERCENT && value <= HIGHEST_PERCENT;
}
