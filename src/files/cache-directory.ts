import { isAbsolute, join } from 'node:path';

/**
 * Returns the directory for cached files: `$XDG_CACHE_HOME/promscaler`, otherwise `~/.cache/promscaler`, or on Windows
 * a directory in `%LOCALAPPDATA%`. Null: none of these variables is set.
 */
export function cacheDirectory(env: Readonly<Record<string, string | undefined>>): string | null {
  const { XDG_CACHE_HOME: cache = '', HOME: home = '', LOCALAPPDATA: local = '' } = env;
  // A relative path is ignored, because the XDG specification declares it invalid.
  if (isAbsolute(cache)) return join(cache, 'promscaler');
  if (isAbsolute(home)) return join(home, '.cache', 'promscaler');
  return isAbsolute(local) ? join(local, 'promscaler') : null;
}
