import type { VNode } from 'preact';
import { sparklinePath } from './sparkline-path.js';

interface SparklineProps {
  /** Oldest first; null: unknown, which is a gap. */
  readonly values: readonly (number | null)[];
  readonly width: number;
  readonly height: number;
  /** Text for screen readers. */
  readonly label: string;
}

/** Shows a small line of replicas. */
export function Sparkline({ values, width, height, label }: SparklineProps): VNode {
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img">
      <title>{label}</title>
      <path
        d={sparklinePath(values, { width, height })}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
      />
    </svg>
  );
}
