import type { VNode } from 'preact';
import { createCell } from '../data/cell.js';
import { useCell } from '../data/use-cell.js';

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
