import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

interface Unpacking {
  /** Names of the files to unpack; all others are skipped. */
  readonly names: readonly string[];
  /** The files are written to this directory as executables. `strip` is removed from the start of their names. */
  readonly directory: string;
  readonly strip: string;
  /** Maximum size of each file. */
  readonly mostBytes: number;
}

const REGULAR: ReadonlySet<string> = new Set(['File', 'OldFile', 'ContiguousFile']);

/**
 * Unpacks files of a `.tar.gz`. Throws if the archive is damaged or truncated, or if one of the files is missing, is
 * not a regular file, or exceeds `mostBytes`.
 */
export async function unpackTar(archive: string, unpacking: Unpacking): Promise<void> {
  const { extract } = await import('tar');
  const { names, directory, strip, mostBytes } = unpacking;
  const missing = new Set(names);
  await extract({
    file: archive,
    cwd: directory,
    strip: strip.split('/').length - 1,
    strict: true,
    filter: (name, entry) =>
      'type' in entry && REGULAR.has(entry.type) && entry.size <= mostBytes && missing.delete(name),
  });
  rejectMissing(missing, mostBytes);
  for (const name of names) await chmod(join(directory, name.slice(strip.length)), 0o755);
}

/** Unpacks files of a zip, with the errors of `unpackTar`. The whole archive and its files are in memory. */
export async function unpackZip(archive: string, unpacking: Unpacking): Promise<void> {
  const { unzipSync } = await import('fflate');
  const { names, directory, strip, mostBytes } = unpacking;
  const sizes = new Map<string, number>();
  const files = unzipSync(await readFile(archive), {
    filter: ({ name, originalSize }) => {
      if (!names.includes(name) || originalSize > mostBytes) return false;
      sizes.set(name, originalSize);
      return true;
    },
  });
  rejectMissing(new Set(names.filter((name) => !sizes.has(name))), mostBytes);
  for (const [name, contents] of Object.entries(files)) {
    const size = sizes.get(name);
    if (contents.length !== size)
      throw new Error(`the zip is damaged: ${name} has ${contents.length} bytes instead of ${size}`);
    const path = join(directory, name.slice(strip.length));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, contents, { mode: 0o755, flag: 'wx' });
  }
}

function rejectMissing(missing: ReadonlySet<string>, mostBytes: number): void {
  if (missing.size === 0) return;
  throw new Error(`the archive has no regular file ${[...missing].join(', ')} of at most ${mostBytes} bytes`);
}
