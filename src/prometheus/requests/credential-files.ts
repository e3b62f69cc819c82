import type { WatchedFile } from './watched-file.js';

/**
 * Authentication is impossible: a file was never readable, or no token was issued. The message contains the setting to
 * check.
 */
export class CredentialError extends Error {
  override name = 'CredentialError';
}

/** Throws a `CredentialError` if the file was never readable; `setting` identifies the file in the message. */
export async function mustRead(file: WatchedFile, setting: string, isForced = false): Promise<string> {
  const content = await file.read(isForced);
  if (content === null) throw new CredentialError(`the file of ${setting} is empty or cannot be read`);
  return content;
}
