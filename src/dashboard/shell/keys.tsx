import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { HEALTH_LINK, OVERVIEW_LINK } from '../ui/links.js';
import './keys.css';

const KEYS: readonly (readonly [keys: string, effect: string])[] = [
  ['?', 'Show or hide this list'],
  ['g s', 'Go to Scalers'],
  ['g h', 'Go to Health'],
  ['/', 'Search scalers'],
  ['j k', 'Next and previous row, like the arrow keys down and up'],
  ['Enter', 'Open the scaler, or collapse the section'],
  ['\u2190 \u2192', 'Previous and next change, on the page of a scaler'],
  ['Esc', 'Clear the search, or close this list'],
];

const PAGES: Readonly<Record<string, string>> = { s: OVERVIEW_LINK, h: HEALTH_LINK };
/** After `g`, the second key must be pressed within this time. */
const SEQUENCE_MS = 1500;

/** Handles the keys that work on every page, and shows a list of all keys. */
export function Keys(): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let startedMs = -Infinity;
    const follow = (event: KeyboardEvent): void => {
      const { key, target, timeStamp } = event;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (target instanceof Element && target.closest('input, textarea, select') !== null) return;
      const link = timeStamp - startedMs < SEQUENCE_MS ? PAGES[key] : undefined;
      startedMs = key === 'g' ? timeStamp : -Infinity;
      if (link !== undefined) location.hash = link;
      else if (key === '?') toggle(dialog.current);
      else if (key === 'j' && document.activeElement === document.body) focusFirstRow();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', follow);
    return () => removeEventListener('keydown', follow);
  }, []);
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl>
        {KEYS.map(([keys, effect]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

function toggle(dialog: HTMLDialogElement | null): void {
  if (dialog?.open === true) dialog.close();
  else dialog?.showModal();
}

function focusFirstRow(): void {
  document.querySelector<HTMLElement>('.scaler-row a')?.focus();
}
