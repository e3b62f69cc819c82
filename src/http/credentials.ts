import { readBoundedText } from '../files/read-bounded.js';
import type { Clock } from '../units/clock.js';
import { errorMessage } from '../units/failure.js';

/**
 * Thrown if there are no credentials: a file was never readable, or no token was issued. The message says what to
 * check.
 */
export class CredentialError extends Error {
  override name = 'CredentialError';
}

/** A small file that changes while the service runs, such as a token, a password or a certificate. */
export interface SecretFile {
  /**
   * Returns the trimmed content, which is at most `maxAgeMs` old; with `isForced`, the current content. Rejects with a
   * `CredentialError` if the file was never readable.
   */
  readonly read: (isForced?: boolean) => Promise<string>;
}

const MAX_AGE_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/**
 * Returns a reader of a file. While the file is empty or unreadable, the reader returns the last valid content, because
 * kubelet and cert-manager replace files in several steps. Source: reliability.md, K20 and K21.
 */
export function createSecretFile(options: {
  readonly path: string;
  readonly clock: Clock;
  readonly maxAgeMs?: number;
  /** The setting that contains `path`. If it is set, messages name it and not the path. */
  readonly setting?: string;
  /** Called when the file cannot be read and an older content is returned. */
  readonly onFailure?: (why: string) => void;
}): SecretFile {
  const { path, clock, setting, maxAgeMs = MAX_AGE_MS, onFailure = () => undefined } = options;
  let content: string | null = null;
  let readAtMs = -Infinity;
  let reading: Promise<void> | null = null;

  const reread = async (): Promise<void> => {
    try {
      const text = (await readBoundedText(path, { mostBytes: MAX_BYTES })).trim();
      if (text === '') throw new Error('the file is empty');
      content = text;
    } catch (cause) {
      const why = errorMessage(cause);
      if (content === null)
        throw new CredentialError(
          setting === undefined
            ? `reading ${path}: ${why}`
            : `the file of ${setting} is empty or cannot be read`,
          { cause },
        );
      onFailure(`reading ${path}: ${why}`);
    } finally {
      readAtMs = clock.monotonicMs();
      reading = null;
    }
  };

  return {
    read: async (isForced = false) => {
      if (isForced || content === null || clock.monotonicMs() - readAtMs >= maxAgeMs)
        await (reading ??= reread());
      // Never empty here: `reread` throws if there is no content.
      return content ?? '';
    },
  };
}

interface RenewableRequest<Credentials, Answer> {
  readonly read: () => Promise<Credentials>;
  readonly send: (credentials: Credentials) => Promise<Answer>;
  /** Returns new credentials after a response that the old ones may have caused (401); null: the response is final. */
  readonly renew: (answer: Answer, used: Credentials) => Promise<Credentials | null>;
}

/** Sends a request, and sends it again if its credentials have been renewed: rotated credentials are not a failure. */
export async function sendWithRenewal<Credentials, Answer>({
  read,
  send,
  renew,
}: RenewableRequest<Credentials, Answer>): Promise<Answer> {
  const used = await read();
  const answer = await send(used);
  const renewed = await renew(answer, used);
  return renewed === null ? answer : send(renewed);
}
