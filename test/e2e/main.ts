import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { kubectlFile } from '../support/kubectl.js';
import { NEEDS, readAbilities } from './abilities.js';
import type { Ability } from './abilities.js';
import { createDefinition, deleteDefinition } from './run-definition.js';
import { runJest } from './jest-run.js';
import {
  createNamespace,
  kubectlOf,
  nameNamespace,
  removeNamespace,
  sweepNamespaces,
} from './run-namespace.js';
import type { Kubectl, RunNamespace } from './run-namespace.js';

/**
 * `npm run test:e2e`: the end-to-end tests on the simulator, or on the cluster of PROMSCALER_E2E_KUBECONFIG in a
 * namespace that is created for the run. This process owns the namespace, and removes it however the run ends.
 */
const CLI = resolve('dist/cli/main.js');
const stop = new AbortController();
const received: NodeJS.Signals[] = [];
let receivedMs = 0;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    // npm forwards a signal that the terminal has sent already: only a user's second Ctrl-C is handled.
    if (received.length > 0 && performance.now() - receivedMs > 500)
      say('still cleaning up, it takes three minutes at most');
    received.push(name);
    receivedMs = performance.now();
    stop.abort();
  });
}

const folder = await mkdtemp(join(tmpdir(), 'e2e-'));
try {
  process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1;
} catch (error) {
  say(messageOf(error));
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
const [first] = received;
if (first !== undefined) process.exitCode = 128 + constants.signals[first];

/** Returns whether all tests passed, and everything of the run is removed. */
async function run(args: readonly string[]): Promise<boolean> {
  // The files of the tests are removed with the directory, also if the tests are killed.
  const env: NodeJS.ProcessEnv = { ...process.env, TMPDIR: folder };
  const given = env['PROMSCALER_E2E_KUBECONFIG'] ?? '';
  if (given === '') return (await runJest({ args, env, signal: stop.signal })) === 0;
  const kubeconfig = resolve(given);
  const kubectl = kubectlOf(await kubectlFile(), kubeconfig);
  const name = nameNamespace();
  try {
    if (!(await prepare(kubectl, name))) return false;
    const variables = await readVariables(kubectl, name);
    const names = { PROMSCALER_E2E_KUBECONFIG: kubeconfig, PROMSCALER_E2E_NAMESPACE: name, ...variables };
    // One test file after the other: they share the namespace. Verbose: skipped tests are listed with their reason.
    const options = [...args, '--runInBand', '--verbose'];
    const tests = async (): Promise<boolean> =>
      (await runJest({ args: options, env: { ...env, ...names }, signal: stop.signal })) === 0;
    const definesObjects = variables['PROMSCALER_E2E_ABILITIES']?.split(',').includes('objects') ?? false;
    return await (definesObjects ? withDefinition(kubectl, name, tests) : tests());
  } finally {
    await cleanUp(kubectl, name);
  }
}

/** Returns whether the namespace exists. It may exist even if its creation was not answered. */
async function prepare(kubectl: Kubectl, name: string): Promise<boolean> {
  try {
    const own = await createNamespace(kubectl, name);
    say(`created namespace ${name} for this run`);
    await sweep(kubectl, own);
    return true;
  } catch (error) {
    say(messageOf(error));
    return false;
  }
}

/** Returns the abilities of the tests as environment variables, and prints which tests are skipped. */
async function readVariables(kubectl: Kubectl, namespace: string): Promise<Readonly<Record<string, string>>> {
  const hasMetrics = await hasMetricsServer(kubectl);
  const metricsAddress = hasMetrics ? '' : (process.env['PROMSCALER_E2E_METRICS_ADDRESS'] ?? '');
  const options = { namespace, hasMetricsServer: hasMetrics, metricsAddress };
  const abilities = await readAbilities(kubectl, options).catch((error: unknown) => {
    say(`what the kubeconfig may do is unknown: ${messageOf(error)}`);
    return new Set<Ability>();
  });
  // jest's own list omits a file whose tests are all skipped.
  for (const [ability, reason] of Object.entries(NEEDS))
    if (!abilities.has(ability as Ability)) say(`tests are skipped: ${reason}`);
  return {
    PROMSCALER_E2E_ABILITIES: [...abilities].join(','),
    PROMSCALER_E2E_METRICS_ADDRESS: metricsAddress,
  };
}

/** Returns whether metrics-server answers; any failure means no. */
async function hasMetricsServer(kubectl: Kubectl): Promise<boolean> {
  try {
    await kubectl(['get', '--raw', '/apis/metrics.k8s.io/v1beta1', '--request-timeout=30s']);
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs `tests` while the cluster has the CustomResourceDefinition of Scalers; removes it if it did not exist before.
 */
async function withDefinition<T>(kubectl: Kubectl, namespace: string, tests: () => Promise<T>): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, 'schema', '--crd']);
  if (!(await createDefinition(kubectl, stdout))) return tests();
  try {
    return await tests();
  } finally {
    const reason = await deleteDefinition(kubectl, namespace);
    if (reason !== null) say(`the CustomResourceDefinition stays: ${reason}`);
  }
}

/** Removes old namespaces. A user without permission to list namespaces can still run the tests. */
async function sweep(kubectl: Kubectl, own: RunNamespace): Promise<void> {
  try {
    for (const old of await sweepNamespaces(kubectl, own)) say(`removing ${old}, left by an earlier run`);
  } catch (error) {
    say(`namespaces of earlier runs are not looked for: ${messageOf(error)}`);
  }
}

async function cleanUp(kubectl: Kubectl, name: string): Promise<void> {
  say(`removing namespace ${name}`);
  try {
    await removeNamespace(kubectl, name);
    say(`namespace ${name} is gone`);
  } catch (error) {
    throw new Error(`${messageOf(error)}\nRemove it by hand: kubectl delete namespace ${name}`, {
      cause: error,
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function say(line: string): void {
  process.stderr.write(`test:e2e: ${line}\n`);
}
