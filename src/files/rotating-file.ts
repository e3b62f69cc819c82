import { constants } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { errorCode } from '../units/failure.js';
import { FileError } from './read-bounded.js';

/** A file of lines whose size is limited. Older lines are in PATH.1, still older ones in PATH.2, and so on. */
interface RotatingFile {
  /**
   * Appends complete lines of at most `maxFileBytes`. Rejects with `FileError` or the error of the system; the file
   * then ends as before. Only one call may run at a time.
   */
  readonly append: (lines: Uint8Array) => Promise<void>;
}

interface RotationLimits {
  /** The number of files, including PATH. */
  readonly maxFiles: number;
  readonly maxFileBytes: number;
}

const NEWLINE = 0x0a;

/**
 * Creates a rotating file. The file is opened for each call, so that a moved or deleted file, or a remounted volume,
 * needs no restart. If another process also appends to the file, the file is only rotated earlier.
 */
export function createRotatingFile(path: string, limits: RotationLimits): RotatingFile {
  return {
    append: async (lines) => {
      const isFull = await withFile(path, async (file, size) => {
        if (size > 0 && size + 1 + lines.length > limits.maxFileBytes) return true;
        await appendTo(file, size, lines);
        return false;
      });
      if (!isFull) return;
      await rotate(path, limits.maxFiles);
      await withFile(path, (file, size) => appendTo(file, size, lines));
    },
  };
}

async function withFile<T>(path: string, work: (file: FileHandle, size: number) => Promise<T>): Promise<T> {
  // Without O_NONBLOCK, opening a pipe would wait for a reader.
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
  const file = await open(path, flags, 0o640);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new FileError('this is a pipe, socket or device, not a regular file');
    return await work(file, found.size);
  } finally {
    await file.close();
  }
}

async function appendTo(file: FileHandle, size: number, lines: Uint8Array): Promise<void> {
  // The last line may be incomplete if a process was killed while it wrote. A newline then ends that line.
  const bytes = (await isLineOpen(file, size)) ? Buffer.concat([Buffer.of(NEWLINE), lines]) : lines;
  try {
    await file.appendFile(bytes);
  } catch (error) {
    // Removes the lines that were written before the disk was full.
    await file.truncate(size).catch(() => undefined);
    throw error;
  }
}

async function isLineOpen(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { bytesRead, buffer } = await file.read(new Uint8Array(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== NEWLINE;
}

/**
 * Renames PATH to PATH.1, PATH.1 to PATH.2, and so on. Deletes files from number `maxFiles` on, in case the limit was
 * lowered.
 */
async function rotate(path: string, maxFiles: number): Promise<void> {
  for (let number = maxFiles; await isDone(unlink(nameOf(path, number))); number += 1);
  for (let number = maxFiles - 1; number >= 1; number -= 1)
    await isDone(rename(nameOf(path, number - 1), nameOf(path, number)));
  if (maxFiles === 1) await isDone(unlink(path));
}

function nameOf(path: string, number: number): string {
  return number === 0 ? path : `${path}.${number}`;
}

/** Returns whether the file existed. Throws any other error. */
async function isDone(work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
