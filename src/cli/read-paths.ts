import { resolve } from 'node:path';
import { type ReadFile, readGeneration } from '../config/read-generation.js';
import { type ReadServiceConfig, readServiceConfig } from '../config/read-service-config.js';
import type { CommandIo } from './io.js';
import { CommandError } from './io.js';

/** The files of one path of the command line, under the name that the user gave it. */
export async function readPath(
  path: string,
  io: CommandIo,
): Promise<{ readonly files: readonly ReadFile[]; readonly error: string | null }> {
  const { files, error } = await readGeneration(resolve(io.cwd, path), path);
  return { files, error };
}

/** The text of the one file of a command; throws a `CommandError` where it cannot be read. */
export async function readOneFile(path: string, io: CommandIo): Promise<string> {
  if (path === '-') return io.readStdin();
  const { files, error } = await readPath(path, io);
  const [file] = files;
  if (error !== null) throw new CommandError(`reading ${path}: ${error}`);
  if (file === undefined || files.length > 1)
    throw new CommandError(`${path} is a folder, a file was expected`, 2);
  if (file.text === null) throw new CommandError(`reading ${path}: ${file.error ?? 'no text'}`);
  return file.text;
}

/** The service config that a command was given by `--config`. */
export async function readConfigOption(path: string, io: CommandIo): Promise<ReadServiceConfig> {
  return readServiceConfig(await readOneFile(path, io), path, resolve(io.cwd, path));
}

/** The format of `-o`; throws a `CommandError` of wrong usage for another one. */
export function checkOutput<T extends string>(output: string, formats: readonly T[]): T {
  const format = formats.find((candidate) => candidate === output);
  if (format === undefined) throw new CommandError(`-o ${output}: must be one of ${formats.join(', ')}`, 2);
  return format;
}
