import { readBoundedText } from '../files/read-bounded.js';
import type { Clock } from '../units/clock.js';
import { errorMessage } from '../units/failure.js';

/** No credentials: a file was never readable, or no token was issued. The message says what to check. */
export class CredentialError extends Error {
  override name = 'CredentialError';
}

/** A small file that is read again while the service runs: a token, password or certificate. */
export interface SecretFile {
  /**
   * Returns the trimmed content, at most `maxAgeMs` old, or the current one with `isForced`. Rejects with a
   * `CredentialError` if the file was never readable.
   */
  readonly read: (isForced?: boolean) => Promise<string>;
}

const MAX_AGE_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/**
 * Returns a reader of the file at `path`. While the file is empty or unreadable, it returns the last valid content,
 * because kubelet and cert-manager replace files in several steps. Source: reliability.md, K20 and K21.
 */
export function createSecretFile(options: {
  readonly path: string;
  readonly clock: Clock;
  readonly maxAgeMs?: number;
  /** The setting that contains `path`: messages name it instead of the path. */
  readonly setting?: string;
  /** Called when an older content is returned because the file cannot be read. */
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
      // `reread` throws if there is no content.
      return content ?? '';
    },
  };
}

interface RenewableRequest<Credentials, Answer> {
  readonly read: () => Promise<Credentials>;
  readonly send: (credentials: Credentials) => Promise<Answer>;
  /** Returns new credentials after a response that the old ones may have caused (401), or null to keep the response. */
  readonly renew: (answer: Answer, used: Credentials) => Promise<Credentials | null>;
}

/** Sends a request, and once more if its credentials were renewed, because rotated credentials are not a failure. */
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
