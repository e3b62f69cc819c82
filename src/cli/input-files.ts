import { realpath, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { readPathContents } from '../config/read-path-contents.js';
import { describeReadError } from '../config/describe-read-error.js';
import { readBounded } from '../files/read-bounded.js';
import type { Problem } from '../scaler/problems/problem.js';
import { MAX_FILE_BYTES } from '../scaler/yaml/read-yaml.js';
import { CommandError, type CommandIo } from './io.js';

/** A file that a command was told to read. */
export interface InputFile {
  /** What the user calls it; `-` is standard input. */
  readonly name: string;
  readonly absolutePath: string;
  readonly text: string;
}

/** What stood at the paths of a command line, in their order; what could not be read is a problem. */
export interface InputFiles {
  readonly files: readonly InputFile[];
  readonly problems: readonly Problem[];
}

/** The texts of files, and of the `*.yaml` and `*.yml` files in folders, each once, however often it is named. */
export async function readInputFiles(paths: readonly string[], io: CommandIo): Promise<InputFiles> {
  const files = new Map<string, InputFile>();
  const problems: Problem[] = [];
  for (const path of paths) {
    for (const found of await listPath(path, io)) {
      const file = 'code' in found ? found : await readInput(found.name, io);
      if ('code' in file) problems.push(file);
      else if (!files.has(file.absolutePath)) files.set(file.absolutePath, file);
    }
  }
  return { files: [...files.values()], problems };
}

/** Returns the text of one file, or why it cannot be read. Throws `CommandError` if the command is interrupted. */
export async function readInput(name: string, io: CommandIo): Promise<InputFile | Problem> {
  if (name === '-') return { name, absolutePath: '-', text: await io.readStdin() };
  try {
    const path = resolve(io.cwd, name);
    const { bytes } = await readBounded(path, { mostBytes: MAX_FILE_BYTES, pipe: { signal: io.signal } });
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // The pipe that a shell makes of `<(command)` has no real path.
    return { name, absolutePath: await realpath(path).catch(() => path), text };
  } catch (error) {
    if (io.signal.aborted) throw new CommandError(`reading ${name}: interrupted`);
    return unreadable(name, describeReadError(error));
  }
}

/** A file is itself; of a folder the same files that the service reads. */
async function listPath(
  path: string,
  io: CommandIo,
): Promise<readonly (Problem | { readonly name: string })[]> {
  if (path === '-') return [{ name: path }];
  const absolutePath = resolve(io.cwd, path);
  const isFolder = (await stat(absolutePath).catch(() => null))?.isDirectory() === true;
  if (!isFolder) return [{ name: path }];
  const { files, error } = await readPathContents(absolutePath, io.clock);
  if (error !== null) return [unreadable(path, error)];
  if (files.length === 0) return [unreadable(path, 'the folder holds no *.yaml and no *.yml file')];
  return files.map((file) => {
    const name = join(path, relative(absolutePath, file.name));
    return file.error === null ? { name } : unreadable(name, file.error);
  });
}

/** A file or folder from which nothing could be taken. */
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
