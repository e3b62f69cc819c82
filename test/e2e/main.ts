import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { kubectlFile } from '../support/kubectl.js';
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
 * namespace that is made for the run. This process owns the namespace, and removes it however the run ends.
 */
const stop = new AbortController();
const received: NodeJS.Signals[] = [];
let receivedMs = 0;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    // npm hands on what the terminal has sent already: only a second Ctrl-C of a person is answered.
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

/** Whether all tests passed, and nothing of the run is left. */
async function run(args: readonly string[]): Promise<boolean> {
  // What the tests write goes with the folder, also where they are killed.
  const env: NodeJS.ProcessEnv = { ...process.env, TMPDIR: folder };
  const given = env['PROMSCALER_E2E_KUBECONFIG'] ?? '';
  if (given === '') return (await runJest({ args, env, signal: stop.signal })) === 0;
  const kubeconfig = resolve(given);
  const kubectl = kubectlOf(await kubectlFile(), kubeconfig);
  const name = nameNamespace();
  try {
    if (!(await prepare(kubectl, name))) return false;
    const names = {
      PROMSCALER_E2E_KUBECONFIG: kubeconfig,
      PROMSCALER_E2E_NAMESPACE: name,
      PROMSCALER_E2E_METRICS_SERVER: String(await hasMetricsServer(kubectl)),
    };
    // One test file after the other: they share the namespace. Verbose: what is skipped is told with its reason.
    const options = [...args, '--runInBand', '--verbose'];
    return (await runJest({ args: options, env: { ...env, ...names }, signal: stop.signal })) === 0;
  } finally {
    await cleanUp(kubectl, name);
  }
}

/** Whether the namespace is there. One whose creation was not answered may be there all the same. */
async function prepare(kubectl: Kubectl, name: string): Promise<boolean> {
  try {
    const own = await createNamespace(kubectl, name);
    say(`namespace ${name} is there for this run`);
    await sweep(kubectl, own);
    return true;
  } catch (error) {
    say(messageOf(error));
    return false;
  }
}

/** Any failure is a no: then the tests that need an HPA with metrics are skipped. */
async function hasMetricsServer(kubectl: Kubectl): Promise<boolean> {
  try {
    await kubectl(['get', '--raw', '/apis/metrics.k8s.io/v1beta1', '--request-timeout=30s']);
    return true;
  } catch {
    // A file of which everything is skipped is left out of jest's own list.
    say('no metrics-server answers: the dry run beside an HPA is skipped');
    return false;
  }
}

/** Who may not list namespaces can still run the tests. */
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
