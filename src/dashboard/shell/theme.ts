import { lastingValue } from './storage.js';
import { createCell } from '../data/cell.js';
import type { Cell } from '../data/cell.js';

/** `system`: follows the setting of the operating system. */
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
