import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';

const PREFIX = 'promscaler-e2e-';
/** Every namespace of a run has this label, by which old ones are found. */
const LABEL = 'promscaler.dev/e2e';
/** No run takes this long: an older namespace is from a killed run. */
const OLD_MS = 3_600_000;
/** A real cluster needs time to end pods and to report it. */
const REMOVAL_SECONDS = 180;

/** Runs kubectl on the given cluster and returns standard output. Throws with its error output if it fails. */
export type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

/** A namespace that was created for one run. */
export interface RunNamespace {
  readonly name: string;
  /** By the cluster's own clock. */
  readonly createdMs: number;
}

/** Returns kubectl from `file` with a kubeconfig. Ctrl-C does not reach it, so that removals are completed. */
export function kubectlOf(file: string, kubeconfig: string): Kubectl {
  return async (args, input = '') => {
    const child = spawn(file, ['--kubeconfig', kubeconfig, ...args], { detached: true });
    // A kubectl that has ended reads no input; its exit code says why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} failed: ${stderr.trim()}`);
    return stdout;
  };
}

/** Returns a name that no other run has. */
export function nameNamespace(): string {
  return PREFIX + randomBytes(4).toString('hex');
}

/** Creates the namespace of a run. */
export async function createNamespace(kubectl: Kubectl, name: string): Promise<RunNamespace> {
  const metadata = { name, labels: { [LABEL]: 'run' } };
  const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata };
  const args = ['create', '-f', '-', '-o', 'json', '--request-timeout=30s'];
  return readNamespace(JSON.parse(await kubectl(args, JSON.stringify(manifest))));
}

/**
 * Removes a namespace and waits until it is deleted; a missing one is not a failure. (`kubectl delete --wait` lists and
 * watches, which needs more permissions.)
 */
export async function removeNamespace(kubectl: Kubectl, name: string): Promise<void> {
  const end = performance.now() + REMOVAL_SECONDS * 1000;
  await kubectl(['delete', 'namespace', name, '--ignore-not-found', '--wait=false', '--request-timeout=30s']);
  const isThere = ['get', 'namespace', name, '--ignore-not-found', '-o', 'name', '--request-timeout=30s'];
  while ((await kubectl(isThere)) !== '') {
    if (performance.now() > end)
      throw new Error(`namespace ${name} is still there after ${REMOVAL_SECONDS} s`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Removes the namespaces of runs that were killed at least an hour before `own` began; returns their names. */
export async function sweepNamespaces(kubectl: Kubectl, own: RunNamespace): Promise<readonly string[]> {
  const args = ['get', 'namespaces', '-l', `${LABEL}=run`, '-o', 'json', '--request-timeout=30s'];
  const list: unknown = JSON.parse(await kubectl(args));
  const items: readonly unknown[] = isObject(list) && Array.isArray(list['items']) ? list['items'] : [];
  const old = items
    .map(readNamespace)
    .filter(({ name, createdMs }) => name.startsWith(PREFIX) && own.createdMs - createdMs >= OLD_MS);
  for (const { name } of old)
    await kubectl([
      'delete',
      'namespace',
      name,
      '--ignore-not-found',
      '--wait=false',
      '--request-timeout=30s',
    ]);
  return old.map(({ name }) => name);
}

function readNamespace(value: unknown): RunNamespace {
  const metadata = isObject(value) && isObject(value['metadata']) ? value['metadata'] : {};
  const { name, creationTimestamp } = metadata;
  if (typeof name !== 'string' || typeof creationTimestamp !== 'string')
    throw new Error('kubectl returned a namespace without a name or a time');
  return { name, createdMs: Date.parse(creationTimestamp) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
