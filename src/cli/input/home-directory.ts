import { homedir } from 'node:os';
import type { CommandIo } from '../output/io.js';

/** Returns null if HOME is unset and the user has no passwd entry, as in some containers. */
export function homeDirectory({ env }: Pick<CommandIo, 'env'>): string | null {
  const { HOME: home = '' } = env;
  if (home !== '') return home;
  try {
    return homedir();
  } catch {
    return null;
  }
}
