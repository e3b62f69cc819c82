import type { ComponentChildren, VNode } from 'preact';
import { useId } from 'preact/hooks';

export interface SectionProps {
  readonly title: string;
  /** Controls or facts that are shown at the end of the heading. */
  readonly aside?: ComponentChildren;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

export function Section({ title, aside, isWide, children }: SectionProps): VNode {
  const id = useId();
  return (
    <section class={isWide === true ? 'card is-wide' : 'card'} aria-labelledby={id}>
      <div class="card-heading">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
