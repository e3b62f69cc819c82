import { useEffect, useState } from 'preact/hooks';

/** Returns a string that changes with the theme, because a canvas does not follow the style sheet. */
export function useTheme(): string {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => {
    const follow = (): void => setTheme(readTheme());
    const query = matchMedia(DARK);
    query.addEventListener('change', follow);
    const observer = new MutationObserver(follow);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      query.removeEventListener('change', follow);
      observer.disconnect();
    };
  }, []);
  return theme;
}

const DARK = '(prefers-color-scheme: dark)';

function readTheme(): string {
  const chosen = document.documentElement.dataset['theme'] ?? 'system';
  return `${chosen} ${matchMedia(DARK).matches ? 'dark' : 'light'}`;
}
