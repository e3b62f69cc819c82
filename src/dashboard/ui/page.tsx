import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { createCell } from '../data/cell.js';
import { useCell } from '../data/use-cell.js';

interface PageHeadingProps {
  readonly title: string;
  /** What the subject of the page belongs to, such as a namespace. */
  readonly context?: string;
  readonly children?: ComponentChildren;
}

/**
 * Shows the heading of a page and sets the title of the window. When the page changes, the heading takes the focus from
 * elements outside of `main`, so that a screen reader reads it.
 */
export function PageHeading({ title, context, children }: PageHeadingProps): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    setTitle(title);
    if (document.activeElement === null || document.activeElement === document.body) return;
    if (!isInsidePage(document.activeElement)) heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <div class="page-heading">
      <h1 ref={heading} tabIndex={-1} dir="auto">
        {context === undefined ? null : <span class="page-context">{context}/</span>}
        <bdi>{title}</bdi>
      </h1>
      {children}
    </div>
  );
}

export function setTitle(title: string): void {
  document.title = `${title} - promscaler`;
}

function isInsidePage(element: Element): boolean {
  return element.closest('main') !== null;
}

const announcement = createCell('');

/** Makes a screen reader read a sentence after the current one. */
export function announce(sentence: string): void {
  announcement.set(sentence);
}

/** The element from which screen readers read announcements. A page must contain it only once. */
export function Announcer(): VNode {
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {useCell(announcement)}
    </div>
  );
}
