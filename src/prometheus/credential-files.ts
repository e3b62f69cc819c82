import type { WatchedFile } from './watched-file.js';

/** Who we are cannot be shown: a file was never readable, or no token was given out. Says which setting to look at. */
export class CredentialError extends Error {
  override name = 'CredentialError';
}

/** The content of a file that a setting names; throws a `CredentialError` where it was never readable. */
export async function mustRead(file: WatchedFile, setting: string, isForced = false): Promise<string> {
  const content = await file.read(isForced);
  if (content === null) throw new CredentialError(`the file of ${setting} is empty or cannot be read`);
  return content;
}
