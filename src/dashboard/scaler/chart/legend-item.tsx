import type { VNode } from 'preact';

interface LegendItemProps {
  readonly style: string;
  readonly name: string;
  readonly value: string;
}

export function LegendItem({ style, name, value }: LegendItemProps): VNode {
  return (
    <span class="legend-item">
      <span class={`swatch ${style}`} />
      {name} <b>{value}</b>
    </span>
  );
}
