import type { VNode } from 'preact';
import { createCell, type Cell } from '../data/cell.js';
import { useCell } from '../data/use-cell.js';
import { Icon } from '../ui/icon.jsx';
import type { IconName } from '../ui/icon-paths.js';

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

/** A value that is kept when the page is reloaded. If the browser forbids storage, a reload loses the value. */
interface StoredValue {
  readonly read: () => string | null;
  /** Null removes the value. */
  readonly write: (value: string | null) => void;
}

/** Returns a value that is kept as long as the tab is open. */
export function sessionValue(key: string): StoredValue {
  return storedValue(() => sessionStorage, key);
}

/** Returns a value that is kept until the user clears the data of the site. */
function lastingValue(key: string): StoredValue {
  return storedValue(() => localStorage, key);
}

function storedValue(storage: () => Storage, key: string): StoredValue {
  let value: string | null = null;
  try {
    value = storage().getItem(key);
  } catch {
    value = null;
  }
  return {
    read: () => value,
    write: (next) => {
      value = next;
      try {
        if (next === null) storage().removeItem(key);
        else storage().setItem(key, next);
      } catch {
        // The browser forbids storage, so the value is kept only until the page is reloaded.
      }
    },
  };
}
