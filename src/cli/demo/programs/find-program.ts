import { join } from 'node:path';
import { type ProgramContext, MissingProgramError } from './context.js';
import { findOnPath } from './find-on-path.js';
import { cacheDirectory, cachedProgram, programFromCache } from './program-cache.js';
import { runCommand } from './run-command.js';

/** A source of a program that is not on the PATH. */
export interface Origin {
  readonly title: string;
  /** Directory name in the cache. */
  readonly folder: string;
  /** Path of a program in that directory. */
  readonly path: (binary: string) => string;
  readonly isPossible: (context: ProgramContext) => Promise<boolean>;
  readonly download: (context: ProgramContext, folder: string) => Promise<void>;
}

export interface Program {
  readonly title: string;
  readonly binary: string;
  /** Tried in order until one succeeds. */
  readonly origins: readonly Origin[];
  /** Arguments that print the version, to verify that the program runs on this machine. */
  readonly probe: readonly string[];
  /** Package manager -> install command, and a page for machines without any of them. */
  readonly install: Readonly<Record<string, string>>;
  readonly page: string;
}

const PROBE_TIMEOUT_MS = 20_000;

/**
 * Returns the path of a program: from the PATH, the cache, or downloaded into the cache. Throws `MissingProgramError`.
 */
export async function findProgram(context: ProgramContext, program: Program): Promise<string> {
  const { title, binary, origins } = program;
  const onPath = await findOnPath(binary, context.env);
  if (onPath !== null) return onPath;
  const reasons: string[] = [];
  try {
    for (const { folder, path } of origins) {
      const cached = await cachedProgram(context, { name: folder, program: path(binary) });
      if (cached !== null) return cached;
    }
    const possible: Origin[] = [];
    for (const origin of origins) if (await origin.isPossible(context)) possible.push(origin);
    for (const [index, origin] of possible.entries()) {
      try {
        return await programFrom(context, program, origin);
      } catch (error) {
        if (context.signal?.aborted === true) throw error;
        const reason = reasonOf(error);
        reasons.push(reason);
        if (index < possible.length - 1)
          context.report?.(`${title} cannot be downloaded from ${origin.title}: ${reason}`);
      }
    }
  } catch (error) {
    reasons.push(reasonOf(error));
  }
  const why = reasons.length === 0 ? 'there is no package for this system' : reasons.join('; ');
  throw new MissingProgramError(
    `${title} is not on the PATH and cannot be downloaded (${why}). To install it: ${await installLine(context, program)}`,
  );
}

function programFrom(context: ProgramContext, program: Program, origin: Origin): Promise<string> {
  const { title, binary, probe } = program;
  const path = origin.path(binary);
  return programFromCache(context, {
    name: origin.folder,
    program: path,
    fill: async (folder) => {
      context.report?.(`downloading ${title} from ${origin.title} to ${cacheDirectory(context)} ...`);
      await origin.download(context, folder);
      await runCommand(context, {
        file: join(folder, path),
        args: probe,
        folder,
        timeoutMs: PROBE_TIMEOUT_MS,
      });
    },
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function installLine(context: ProgramContext, { install, page }: Program): Promise<string> {
  for (const [manager, line] of Object.entries(install)) {
    if ((await findOnPath(manager, context.env)) !== null) return line;
  }
  return page;
}
