import { realpath, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { readPathContents } from '../../config/read-path-contents.js';
import {
  type ReadBounds,
  describeReadError,
  readBounded,
  readBoundedText,
} from '../../files/read-bounded.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { MAX_FILE_BYTES } from '../../scaler/yaml/read-yaml.js';
import { CommandError, type CommandIo } from '../output/io.js';

export interface InputFile {
  /** The name that the user typed; `-`: standard input. */
  readonly name: string;
  readonly absolutePath: string;
  readonly text: string;
}

/** The files that could be read, and a problem for each other file. */
export interface InputFiles {
  readonly files: readonly InputFile[];
  readonly problems: readonly Problem[];
}

/**
 * Reads the files, and the `*.yaml` and `*.yml` files of directories, in the order of the paths and each file once.
 * `mostBytes` limits files that the user has named. The limit of scaler documents applies to the files of a directory.
 */
export async function readInputFiles(
  paths: readonly string[],
  io: CommandIo,
  mostBytes: number = MAX_FILE_BYTES,
): Promise<InputFiles> {
  const files = new Map<string, InputFile>();
  const problems: Problem[] = [];
  for (const path of paths) {
    for (const found of await listPath(path, io)) {
      const file = 'code' in found ? found : await readInput(found.name, io, mostBytes);
      if ('code' in file) problems.push(file);
      else if (!files.has(file.absolutePath)) files.set(file.absolutePath, file);
    }
  }
  return { files: [...files.values()], problems };
}

/** Reads a file; returns a problem if that fails. Throws `CommandError` if the command is interrupted. */
export async function readInput(
  name: string,
  io: CommandIo,
  mostBytes: number = MAX_FILE_BYTES,
): Promise<InputFile | Problem> {
  if (name === '-') return { name, absolutePath: '-', text: await io.readStdin() };
  try {
    const path = resolve(io.cwd, name);
    const { bytes } = await readBounded(path, { mostBytes, pipe: { signal: io.signal } });
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // A process substitution, `<(command)`, is a pipe without a real path, so its path is used as it is.
    return { name, absolutePath: await realpath(path).catch(() => path), text };
  } catch (error) {
    if (io.signal.aborted) throw new CommandError(`reading ${name}: interrupted`);
    return unreadable(name, describeReadError(error));
  }
}

/** Returns the path itself. For a directory, returns the files in it that the service would read. */
async function listPath(
  path: string,
  io: CommandIo,
): Promise<readonly (Problem | { readonly name: string })[]> {
  if (path === '-') return [{ name: path }];
  const absolutePath = resolve(io.cwd, path);
  const isDirectory = (await stat(absolutePath).catch(() => null))?.isDirectory() === true;
  if (!isDirectory) return [{ name: path }];
  const { files, error } = await readPathContents(absolutePath, io.clock);
  if (error !== null) return [unreadable(path, error)];
  if (files.length === 0) return [unreadable(path, 'the directory contains no *.yaml or *.yml file')];
  return files.map((file) => {
    const name = join(path, relative(absolutePath, file.name));
    return file.error === null ? { name } : unreadable(name, file.error);
  });
}

export function unreadable(file: string, message: string): Problem {
  return {
    code: 'unreadable',
    severity: 'error',
    message,
    file,
    place: null,
    path: '',
    sourceLine: null,
  };
}

/** Reads a file that the user has named. Throws `CommandError`, whose message begins with `doing`. */
export async function readNamedFile(doing: string, path: string, bounds: ReadBounds): Promise<string> {
  try {
    return await readBoundedText(path, bounds);
  } catch (error) {
    throw new CommandError(`${doing}: ${describeReadError(error)}`);
  }
}
