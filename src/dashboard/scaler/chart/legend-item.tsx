import type { VNode } from 'preact';

interface LegendItemProps {
  readonly look: string;
  readonly name: string;
  readonly value: string;
}

/** Shows the style of a line, its name and a value. */
export function LegendItem({ look, name, value }: LegendItemProps): VNode {
  return (
    <span class="legend-item">
      <span class={`swatch ${look}`} />
      {name} <b>{value}</b>
    </span>
  );
}
