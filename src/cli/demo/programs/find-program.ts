import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { cacheDirectory } from '../../../files/cache-directory.js';
import type { Clock } from '../../../units/clock.js';
import { type Environment, runCommand } from './child-process.js';
import { errorMessage } from '../../../units/failure.js';

export interface ProgramContext {
  /** Environment variables, such as those for the cache directory, and `PROMSCALER_PROMETHEUS_MIRROR`. */
  readonly env: Environment;
  readonly clock: Clock;
  /** Aborts downloads. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a sentence before a download, and when an origin fails and the next origin is tried. */
  readonly report?: ((line: string) => void) | undefined;
  /**
   * Called a few times a second during a download with a string that replaces the previous string, and with '' at the
   * end.
   */
  readonly progress?: ((text: string) => void) | undefined;
}

/** Where a program can be downloaded if it is not on the PATH. */
export interface Origin {
  readonly title: string;
  /** Name of its directory in the cache. */
  readonly directory: string;
  /** Path of a program in that directory. */
  readonly path: (binary: string) => string;
  readonly isPossible: (context: ProgramContext) => Promise<boolean>;
  /** Downloads the program into this empty directory. */
  readonly download: (context: ProgramContext, directory: string) => Promise<void>;
}

export interface Program {
  readonly title: string;
  readonly binary: string;
  /** The origins are tried in this order until one succeeds. */
  readonly origins: readonly Origin[];
  /** Arguments with which the program prints its version, which shows that it runs on this machine. */
  readonly probe: readonly string[];
  /**
   * Maps package managers to commands that install the program. `page`: the web page for machines without these
   * managers.
   */
  readonly install: Readonly<Record<string, string>>;
  readonly page: string;
}

/** Thrown if a program is not installed and cannot be downloaded. The message ends with a command that installs it. */
export class MissingProgramError extends Error {
  override name = 'MissingProgramError';
}

const PROBE_TIMEOUT_MS = 20_000;
const PARTIAL = '.partial-';
const ABANDONED_MS = 3_600_000;

/**
 * Returns the path of a program, which is on the PATH, in the cache, or downloaded into the cache now. Throws
 * `MissingProgramError`.
 */
export async function findProgram(context: ProgramContext, program: Program): Promise<string> {
  const { title, binary, origins } = program;
  const onPath = await findOnPath(binary, context.env);
  if (onPath !== null) return onPath;
  const reasons: string[] = [];
  let failure: string | null = null;
  try {
    const cache = cacheDirectory(context.env);
    if (cache === null) throw new Error('no cache directory: neither XDG_CACHE_HOME nor HOME is set');
    for (const { directory, path } of origins) {
      const cached = join(cache, directory, path(binary));
      if (await isExecutable(cached)) return cached;
    }
    for (const origin of origins) {
      if (!(await origin.isPossible(context))) continue;
      if (failure !== null) context.report?.(failure);
      try {
        return await fillCache(context, cache, program, origin);
      } catch (error) {
        if (context.signal?.aborted === true) throw error;
        reasons.push(reasonOf(error));
        failure = `${title} cannot be downloaded from ${origin.title}: ${reasonOf(error)}`;
      }
    }
  } catch (error) {
    reasons.push(reasonOf(error));
  }
  const why = reasons.length === 0 ? 'there is no package for this system' : reasons.join('; ');
  throw new MissingProgramError(
    `${title} is not on the PATH and cannot be downloaded (${why}). To install ${title}: ${await installLine(context, program)}`,
  );
}

/**
 * Downloads a program into the cache and returns its path. The directory is filled under a temporary name and then
 * renamed, so that a partial directory is never used. If two processes download the program at the same time, both
 * use the directory that was renamed first.
 */
async function fillCache(
  context: ProgramContext,
  cache: string,
  { title, binary, probe }: Pick<Program, 'title' | 'binary' | 'probe'>,
  origin: Origin,
): Promise<string> {
  const path = join(cache, origin.directory, origin.path(binary));
  await mkdir(cache, { recursive: true });
  await removeAbandoned(context, cache);
  const partial = await mkdtemp(join(cache, PARTIAL));
  try {
    context.report?.(`downloading ${title} from ${origin.title} to ${cache} ...`);
    await origin.download(context, partial);
    const probed = { file: join(partial, origin.path(binary)), args: probe, directory: partial };
    await runCommand(context, { ...probed, timeoutMs: PROBE_TIMEOUT_MS });
    await rename(partial, join(cache, origin.directory)).catch(async (error: unknown) => {
      if (!(await isExecutable(path))) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return path;
}

async function removeAbandoned({ clock }: ProgramContext, cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    if (!name.startsWith(PARTIAL)) continue;
    // Uses the ctime: dpkg and tar set the mtime to the mtime in the package, so a directory in use would look
    // abandoned.
    const found = await stat(join(cache, name)).catch(() => null);
    if (found !== null && clock.now() - found.ctimeMs > ABANDONED_MS)
      await rm(join(cache, name), { recursive: true, force: true });
  }
}

/** Returns the first executable file with this name on the PATH, or null. Relative entries of the PATH are skipped. */
export async function findOnPath(name: string, env: Environment): Promise<string | null> {
  const file = platform() === 'win32' ? `${name}.exe` : name;
  for (const directory of (env['PATH'] ?? env['Path'] ?? '').split(delimiter)) {
    if (isAbsolute(directory) && (await isExecutable(join(directory, file)))) return join(directory, file);
  }
  return null;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function installLine({ env }: ProgramContext, { install, page }: Program): Promise<string> {
  for (const [manager, line] of Object.entries(install)) {
    if ((await findOnPath(manager, env)) !== null) return line;
  }
  return page;
}

export function reasonOf(error: unknown): string {
  const reason = errorMessage(error);
  // If Node.js has tried several addresses, the message of its error is empty, so the code is returned.
  const { code } = error as { readonly code?: unknown };
  return reason === '' && typeof code === 'string' ? code : reason;
}
