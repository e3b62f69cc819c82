import { join } from 'node:path';
import { type ProgramContext, MissingProgramError } from './context.js';
import { findOnPath } from './find-on-path.js';
import { cacheDirectory, programFromCache } from './program-cache.js';
import { runCommand } from './run-command.js';

/** Where a program comes from that is not on the PATH. */
export interface Origin {
  readonly title: string;
  /** Directory name in the cache. */
  readonly folder: string;
  readonly isPossible: (context: ProgramContext) => Promise<boolean>;
  readonly download: (context: ProgramContext, folder: string) => Promise<void>;
}

export interface Program {
  readonly title: string;
  readonly binary: string;
  readonly origin: Origin;
  readonly path: string;
  /** Arguments that print the version, to verify that the program runs on this machine. */
  readonly probe: readonly string[];
  /** Install command by package manager, and a page to show if none of them is installed. */
  readonly install: Readonly<Record<string, string>>;
  readonly page: string;
}

const PROBE_TIMEOUT_MS = 20_000;

/**
 * Returns the path of a program: from the PATH, the cache, or downloaded into the cache. Throws `MissingProgramError`.
 */
export async function findProgram(context: ProgramContext, program: Program): Promise<string> {
  const { title, origin, path } = program;
  const onPath = await findOnPath(program.binary, context.env);
  if (onPath !== null) return onPath;
  try {
    return await programFromCache(context, {
      name: origin.folder,
      program: path,
      fill: async (folder) => {
        if (!(await origin.isPossible(context))) throw new Error('there is no package for this system');
        context.report?.(`downloading ${title} from ${origin.title} to ${cacheDirectory(context)} ...`);
        await origin.download(context, folder);
        const probe = { file: join(folder, path), args: program.probe, folder, timeoutMs: PROBE_TIMEOUT_MS };
        await runCommand(context, probe);
      },
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `${title} is not on the PATH and cannot be downloaded (${why}). To install it: ${await installLine(context, program)}`;
    throw new MissingProgramError(message, { cause: error });
  }
}

async function installLine(context: ProgramContext, { install, page }: Program): Promise<string> {
  for (const [manager, line] of Object.entries(install)) {
    if ((await findOnPath(manager, context.env)) !== null) return line;
  }
  return page;
}
