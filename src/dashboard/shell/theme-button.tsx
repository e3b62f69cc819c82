import type { VNode } from 'preact';
import type { Cell } from '../data/cell.js';
import { useCell } from '../data/use-cell.js';
import { Icon } from '../ui/icon.jsx';
import type { IconName } from '../ui/icon-paths.js';
import type { Theme } from './theme.js';

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };
const ICONS: Readonly<Record<Theme, IconName>> = { system: 'contrast', light: 'sun', dark: 'moon' };

export function ThemeButton({ theme }: { readonly theme: Cell<Theme> }): VNode {
  const current = useCell(theme);
  return (
    <button
      type="button"
      class="icon-button"
      title={`Theme: ${current}`}
      aria-label={`Theme: ${current}. Switch to ${NEXT[current]}`}
      onClick={() => theme.set(NEXT[current])}
    >
      <Icon name={ICONS[current]} />
    </button>
  );
}
