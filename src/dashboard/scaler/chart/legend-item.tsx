import type { VNode } from 'preact';

interface LegendItemProps {
  readonly style: string;
  readonly name: string;
  readonly value: string;
}

/** Shows the style of a line, its name and a value. */
export function LegendItem({ style, name, value }: LegendItemProps): VNode {
  return (
    <span class="legend-item">
      <span class={`swatch ${style}`} />
      {name} <b>{value}</b>
    </span>
  );
}
