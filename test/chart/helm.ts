import { spawnSync } from 'node:child_process';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { findHelm, findHelm3 } from '../programs/find-programs.js';
import { openTemplateCache } from './template-cache.js';

export const ROOT = join(import.meta.dirname, '../..');
export const CHART = join(ROOT, 'charts/promscaler');

/** The largest documents, definition and dashboards of a chart are more than the default of Node.js, 1 MiB. */
const MOST_BYTES = 16 * 1024 ** 2;

/** Downloading helm on a fresh machine counts toward the first test. */
export const HELM_TIMEOUT_MS = 300_000;

/** An object of Kubernetes, not validated yet. */
export type Rendered = Readonly<Record<string, unknown>>;

/** Values of the chart. They are passed to helm as JSON, in which a string is a string. */
export type Values = Readonly<Record<string, unknown>>;

/** The result of a run of helm. */
export interface HelmResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs helm; `input` is its standard input. */
export type Helm = (args: readonly string[], input?: string) => HelmResult;

/**
 * The helm versions that the chart is tested with. If helm 3 cannot be downloaded, only the one of this machine is
 * used.
 */
export const HELMS: readonly ('helm' | 'helm 3')[] =
  platform() === 'linux' && arch() === 'x64' ? ['helm', 'helm 3'] : ['helm'];

/** For a Go program that ends within a second: garbage collection would take a third of its time. */
export const SHORT_LIVED = { GOGC: 'off' };

/** Returns the path of the program. */
export function helmFile(which: 'helm' | 'helm 3'): Promise<string> {
  const find = which === 'helm' ? findHelm : findHelm3;
  return find({ env: process.env, clock: SYSTEM_CLOCK });
}

/** Starts a real helm: 4, unless another one is on the PATH; or 3. */
export async function startHelm(which: 'helm' | 'helm 3' = 'helm'): Promise<Helm> {
  const file = await helmFile(which);
  const env = { ...process.env, ...SHORT_LIVED };
  const cache = openTemplateCache(file, CHART);
  return (args, input = '') => {
    const run = (): HelmResult => {
      const { status, stdout, stderr } = spawnSync(file, args, {
        input,
        env,
        encoding: 'utf8',
        maxBuffer: MOST_BYTES,
      });
      return { code: status, stdout, stderr };
    };
    return args[0] === 'template' || args[0] === 'lint' ? cache.run(args, input, run) : run();
  };
}

/** Runs `helm template` for a release `rel` in the namespace `ops`. */
export function template(helm: Helm, values: Values = {}, args: readonly string[] = []): HelmResult {
  const command = ['template', 'rel', CHART, '--namespace', 'ops', '-f', '-', ...args];
  return helm(command, JSON.stringify(values));
}

/** Returns the objects that the chart renders; throws helm's error for rejected values. */
export function render(helm: Helm, values: Values = {}, args: readonly string[] = []): readonly Rendered[] {
  const { code, stdout, stderr } = template(helm, values, args);
  if (code !== 0) throw new Error(`helm template ended with ${code}: ${stderr}`);
  // The cluster reads YAML 1.1, so a string must be one in YAML 1.1.
  const documents = parseAllDocuments(stdout, { version: '1.1', uniqueKeys: true });
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => {
    if (document.errors.length > 0) throw new Error(`${String(document.errors[0])}\n${stdout}`);
    const value: unknown = document.toJS();
    if (!isMapping(value)) throw new Error(`no object was rendered: ${JSON.stringify(value)}`);
    return value;
  });
}

/** Returns the only object of a kind, or of a kind and the end of its name. */
export function pick(objects: readonly Rendered[], kind: string, suffix = ''): Rendered {
  const found = objects.filter(
    (object) => object['kind'] === kind && String(at(object, 'metadata', 'name')).endsWith(suffix),
  );
  const [first, second] = found;
  if (first === undefined || second !== undefined) throw new Error(`there are ${found.length} of ${kind}`);
  return first;
}

/** Returns the value at a path, or undefined. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const step of path) {
    if (Array.isArray(current) && typeof step === 'number') current = (current as unknown[])[step];
    else current = isMapping(current) ? current[String(step)] : undefined;
  }
  return current;
}

/** Returns the string at a path. Throws for another type. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  if (typeof found !== 'string') throw new Error(`${path.join('.')} is no text: ${JSON.stringify(found)}`);
  return found;
}

/** Returns the list at a path. Throws for another type. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  if (!Array.isArray(found)) throw new Error(`${path.join('.')} is no list: ${JSON.stringify(found)}`);
  return found as unknown[];
}

export function isMapping(value: unknown): value is Rendered {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
