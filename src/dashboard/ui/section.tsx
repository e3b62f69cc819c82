import type { ComponentChildren, VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useMedia, WIDE } from './hooks.js';

interface SectionProps {
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

interface FoldSectionProps extends SectionProps {
  /** Whether the section is expanded on a narrow page, too. */
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

interface LazyDetailsProps {
  readonly summary: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** Renders its content only while it is open. */
export function LazyDetails({ summary, children, ...attributes }: LazyDetailsProps): VNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details {...attributes} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen ? children : null}
    </details>
  );
}
