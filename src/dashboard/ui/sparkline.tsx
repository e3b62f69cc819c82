import type { VNode } from 'preact';
import { sparklineOf } from './sparkline-path.js';

interface SparklineProps {
  /** The values, oldest first. Null: unknown, which is shown as a gap. */
  readonly values: readonly (number | null)[];
  /** The maximum, which is shown as a dashed line; null: unknown. */
  readonly maximum: number | null;
  readonly width: number;
  readonly height: number;
  /** Text for screen readers. */
  readonly label: string;
}

/** Shows a small line chart of replicas with their maximum. */
export function Sparkline({ values, maximum, width, height, label }: SparklineProps): VNode {
  const { path, maximumY } = sparklineOf(values, maximum, { width, height });
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img">
      <title>{label}</title>
      {maximumY === null ? null : <path class="sparkline-maximum" d={`M0 ${maximumY}H${width}`} />}
      <path d={path} fill="none" stroke="currentColor" stroke-width="1.5" />
    </svg>
  );
}
