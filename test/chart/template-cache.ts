import { createHash } from 'node:crypto';
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HelmResult } from './helm.js';

const CACHE = join(tmpdir(), 'promscaler-helm-templates');
const KEPT_MS = 24 * 3_600_000;

/** Caches results of `helm template` and `helm lint`, by program, chart, arguments and standard input, across test runs. */
export interface TemplateCache {
  readonly run: (args: readonly string[], input: string, run: () => HelmResult) => HelmResult;
}

/** Opens the cache of a helm and a chart as they are now. */
export function openTemplateCache(helm: string, chart: string): TemplateCache {
  const { mtimeMs, size } = statSync(helm);
  const directory = join(CACHE, digest(JSON.stringify([helm, mtimeMs, size, digestOfFiles(chart)])));
  mkdirSync(directory, { recursive: true });
  const now = new Date();
  utimesSync(directory, now, now);
  removeOld(now.getTime() - KEPT_MS);
  return {
    run: (args, input, run) => {
      // The key does not include the contents of other files.
      if (args.includes('--set-file')) return run();
      const path = join(directory, `${digest(JSON.stringify([args, input]))}.json`);
      const known = read(path);
      if (known !== null) return known;
      const result = run();
      // Any other code means that helm was killed or crashed.
      if (result.code === 0 || result.code === 1) write(path, result);
      return result;
    },
  };
}

function digest(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

function digestOfFiles(directory: string): string {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return digest(JSON.stringify(files.sort().map((file) => [file, digest(readFileSync(file))])));
}

function read(path: string): HelmResult | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as HelmResult;
  } catch {
    return null;
  }
}

/** Writes atomically: another worker reads all of it, or nothing. */
function write(path: string, result: HelmResult): void {
  const part = `${path}.${process.pid}`;
  writeFileSync(part, JSON.stringify(result));
  renameSync(part, path);
}

/** Removes results of charts that were last used a day ago. */
function removeOld(endMs: number): void {
  for (const name of readdirSync(CACHE)) {
    const directory = join(CACHE, name);
    const usedMs = statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (usedMs < endMs) rmSync(directory, { recursive: true, force: true });
  }
}
