import { homedir } from 'node:os';
import type { CommandIo } from './io.js';

/** The user's home folder; null where there is none: HOME is not set and the user is not listed, as in some containers. */
export function homeFolder({ env }: Pick<CommandIo, 'env'>): string | null {
  const { HOME: home = '' } = env;
  if (home !== '') return home;
  try {
    return homedir();
  } catch {
    return null;
  }
}
