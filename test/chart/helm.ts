import { spawnSync } from 'node:child_process';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { findHelm, findHelm3 } from '../programs/find-programs.js';
import { openTemplateCache } from './template-cache.js';

export const ROOT = join(import.meta.dirname, '../..');
export const CHART = join(ROOT, 'charts/promscaler');

/** Bringing helm on a fresh machine is part of the first test's time. */
export const HELM_TIMEOUT_MS = 300_000;

/** An object of Kubernetes, of which nothing is known yet. */
export type Rendered = Readonly<Record<string, unknown>>;

/** Values of the chart. They go to helm as JSON, in which a text is a text. */
export type Values = Readonly<Record<string, unknown>>;

/** What a run of helm left behind. */
export interface HelmResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs helm; `input` is its standard input. */
export type Helm = (args: readonly string[], input?: string) => HelmResult;

/** The helms that the chart is tried with. Where helm 3 cannot be brought, the one of this machine is tried alone. */
export const HELMS: readonly ('helm' | 'helm 3')[] =
  platform() === 'linux' && arch() === 'x64' ? ['helm', 'helm 3'] : ['helm'];

/** For a program in Go that ends within a second: collecting its garbage would be a third of its time. */
export const SHORT_LIVED = { GOGC: 'off' };

/** Where its program is. */
export function helmFile(which: 'helm' | 'helm 3'): Promise<string> {
  const find = which === 'helm' ? findHelm : findHelm3;
  return find({ env: process.env, clock: SYSTEM_CLOCK });
}

/** A real helm: 4, unless another one is on the PATH; or 3. */
export async function startHelm(which: 'helm' | 'helm 3' = 'helm'): Promise<Helm> {
  const file = await helmFile(which);
  const env = { ...process.env, ...SHORT_LIVED };
  const cache = openTemplateCache(file, CHART);
  return (args, input = '') => {
    const run = (): HelmResult => {
      const { status, stdout, stderr } = spawnSync(file, args, { input, env, encoding: 'utf8' });
      return { code: status, stdout, stderr };
    };
    return args[0] === 'template' ? cache.run(args, input, run) : run();
  };
}

/** `helm template` of a release `rel` in the namespace `ops`. */
export function template(helm: Helm, values: Values = {}, args: readonly string[] = []): HelmResult {
  const command = ['template', 'rel', CHART, '--namespace', 'ops', '-f', '-', ...args];
  return helm(command, JSON.stringify(values));
}

/** The objects that the chart renders; throws what helm says against the values. */
export function render(helm: Helm, values: Values = {}, args: readonly string[] = []): readonly Rendered[] {
  const { code, stdout, stderr } = template(helm, values, args);
  if (code !== 0) throw new Error(`helm template ended with ${code}: ${stderr}`);
  // The cluster reads YAML 1.1: what is a text there must be one here.
  const documents = parseAllDocuments(stdout, { version: '1.1', uniqueKeys: true });
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => {
    if (document.errors.length > 0) throw new Error(`${String(document.errors[0])}\n${stdout}`);
    const value: unknown = document.toJS();
    if (!isMapping(value)) throw new Error(`no object was rendered: ${JSON.stringify(value)}`);
    return value;
  });
}

/** The one object of a kind, or of a kind and the end of its name. */
export function pick(objects: readonly Rendered[], kind: string, suffix = ''): Rendered {
  const found = objects.filter(
    (object) => object['kind'] === kind && String(at(object, 'metadata', 'name')).endsWith(suffix),
  );
  const [first, second] = found;
  if (first === undefined || second !== undefined) throw new Error(`there are ${found.length} of ${kind}`);
  return first;
}

/** What stands at a path; undefined where nothing does. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const step of path) {
    if (Array.isArray(current) && typeof step === 'number') current = (current as unknown[])[step];
    else current = isMapping(current) ? current[String(step)] : undefined;
  }
  return current;
}

/** The same, where it must be a text. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  if (typeof found !== 'string') throw new Error(`${path.join('.')} is no text: ${JSON.stringify(found)}`);
  return found;
}

/** The same, where it must be a list. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  if (!Array.isArray(found)) throw new Error(`${path.join('.')} is no list: ${JSON.stringify(found)}`);
  return found as unknown[];
}

export function isMapping(value: unknown): value is Rendered {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
