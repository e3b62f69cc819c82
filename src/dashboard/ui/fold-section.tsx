import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import { Section } from './section.jsx';
import type { SectionProps } from './section.jsx';
import { WIDE, useMedia } from './use-media.js';

interface FoldSectionProps extends SectionProps {
  /** Whether the content is shown on a narrow page without a click. */
  readonly isOpen?: boolean;
}

/** Shows a section. On a narrow page it is collapsed, because the most important part of the page is above it. */
export function FoldSection({ isOpen = false, ...props }: FoldSectionProps): VNode {
  const id = useId();
  if (useMedia(WIDE) || isOpen) return <Section {...props} />;
  return (
    <section class="card" aria-labelledby={id}>
      <details class="fold">
        <summary>
          <h2 id={id}>{props.title}</h2>
        </summary>
        {props.aside}
        {props.children}
      </details>
    </section>
  );
}
