import { isAbsolute, join } from 'node:path';

/**
 * Returns `$XDG_CACHE_HOME/promscaler`, else `~/.cache/promscaler`, on Windows a directory in `%LOCALAPPDATA%`; null if
 * the variables are unset.
 */
export function cacheDirectory(env: Readonly<Record<string, string | undefined>>): string | null {
  const { XDG_CACHE_HOME: cache = '', HOME: home = '', LOCALAPPDATA: local = '' } = env;
  // The XDG specification declares relative paths invalid.
  if (isAbsolute(cache)) return join(cache, 'promscaler');
  if (isAbsolute(home)) return join(home, '.cache', 'promscaler');
  return isAbsolute(local) ? join(local, 'promscaler') : null;
}
