import type { ComponentChildren, VNode } from 'preact';

export interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
}

/** Shows names and values in two columns. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }): VNode {
  return (
    <dl class="health-facts">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
