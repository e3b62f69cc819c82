import type { VNode } from 'preact';
import { createCell } from '../data/cell.js';
import type { Cell } from '../data/cell.js';
import { useCell } from '../data/use-cell.js';
import { Icon } from '../ui/icon.jsx';
import type { IconName } from '../ui/icon-paths.js';
import { lastingValue } from './storage.js';

/** `system`: the theme of the operating system. */
export type Theme = 'system' | 'light' | 'dark';

/** Applies the theme that the viewer has selected on this device. */
export function createTheme(): Cell<Theme> {
  const stored = lastingValue('promscaler.theme');
  const theme = createCell<Theme>(themeOf(stored.read()));
  const apply = (): void => {
    const value = theme.get();
    if (value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = value;
  };
  apply();
  theme.subscribe(() => {
    apply();
    stored.write(theme.get() === 'system' ? null : theme.get());
  });
  return theme;
}

function themeOf(text: string | null): Theme {
  return text === 'light' || text === 'dark' ? text : 'system';
}

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
