import { homedir } from 'node:os';

/** The user's home folder; null where there is none: HOME is not set and the user is not listed, as in some containers. */
export function homeFolder(): string | null {
  try {
    return homedir();
  } catch {
    return null;
  }
}
