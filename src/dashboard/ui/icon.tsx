import type { VNode } from 'preact';

/** Paths on a grid of 16 x 16, drawn with lines. */
const PATHS = {
  error: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  warning: 'M8 2 14.4 13.4H1.6ZM8 6.4v3.2M8 11.5v.1',
  ok: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM5.2 8.2l2 2 3.8-4.2',
  unknown:
    'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM6 6.3C6.1 4.1 9.9 4.1 9.9 6.4 9.9 7.9 8 7.8 8 9.4M8 11.5v.1',
  conflict: 'M2 5.5h11M10 2.5l3 3-3 3M14 10.5H3M6 7.5l-3 3 3 3',
  ceiling: 'M2.5 2.5h11M8 13.5v-8M4.8 8.7 8 5.5l3.2 3.2',
  target: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 5.6a2.4 2.4 0 1 0 0 4.8 2.4 2.4 0 0 0 0-4.8Z',
  pause: 'M5.5 3v10M10.5 3v10',
  eye: 'M1.5 8C4.5 3 11.5 3 14.5 8 11.5 13 4.5 13 1.5 8ZM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6Z',
  lock: 'M3.5 7.2h9v6.3h-9ZM5.5 7.2V5a2.5 2.5 0 0 1 5 0v2.2',
  scaling: 'M2.5 13.5v-4M6.2 13.5v-6M9.8 13.5V5M13.5 13.5v-11',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3l3.5 3.5',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13',
  moon: 'M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3Z',
  contrast: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 2v12M8 5h4.4M8 8h6M8 11h4.8',
  up: 'M8 13V3M3.8 7.2 8 3l4.2 4.2',
  down: 'M8 3v10M3.8 8.8 8 13l4.2-4.2',
  right: 'M3 8h10M8.8 3.8 13 8l-4.2 4.2',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  copy: 'M5.5 5.5h8v8h-8ZM3.5 10.5h-1v-8h8v1',
  download: 'M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.5 13.5h11',
  clock: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 4.5V8l2.5 1.7',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture next to a text that says the same. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
