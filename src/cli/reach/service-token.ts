import { resolve } from 'node:path';
import { describeReadError } from '../../config/describe-read-error.js';
import { readBoundedText } from '../../files/read-bounded.js';
import { TOKEN_HEADER } from '../../server/access/access-control.js';
import type { CommandIo } from '../output/io.js';
import { CommandError } from '../output/io.js';

const MOST_BYTES = 64 * 1024;
const VARIABLE = 'PROMSCALER_TOKEN';

/** Returns the header with the token for a service with `server.auth`; empty if there is none. */
export async function serviceHeaders(
  { tokenFile }: { readonly tokenFile?: string | undefined },
  io: Pick<CommandIo, 'env' | 'cwd' | 'signal'>,
): Promise<Readonly<Record<string, string>>> {
  const token = tokenFile === undefined ? (io.env[VARIABLE] ?? '').trim() : await readToken(tokenFile, io);
  if (token === '') return {};
  const origin = tokenFile === undefined ? VARIABLE : `--token-file ${tokenFile}`;
  if (!/^[\w.~+/=-]+$/.test(token))
    throw new CommandError(`${origin} is not a bearer token: it has other characters`, 2);
  return { [TOKEN_HEADER]: `Bearer ${token}` };
}

async function readToken(file: string, { cwd, signal }: Pick<CommandIo, 'cwd' | 'signal'>): Promise<string> {
  try {
    const text = await readBoundedText(resolve(cwd, file), { mostBytes: MOST_BYTES, pipe: { signal } });
    if (text.trim() !== '') return text.trim();
  } catch (error) {
    throw new CommandError(`reading --token-file ${file}: ${describeReadError(error)}`);
  }
  throw new CommandError(`reading --token-file ${file}: the file is empty`);
}
