import type { ComponentChildren, VNode } from 'preact';
import { useId } from 'preact/hooks';

interface SectionProps {
  readonly title: string;
  /** Controls or facts at the end of the heading. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a page with its heading. */
export function Section({ title, aside, children }: SectionProps): VNode {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-heading">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
