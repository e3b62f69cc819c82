import { debianPackage } from './debian-packages.js';
import { type Program, type ProgramContext, findProgram } from './find-program.js';
import { prometheusRelease } from './prometheus-release.js';

export const PROMETHEUS: Program = {
  title: 'Prometheus',
  binary: 'prometheus',
  origins: [prometheusRelease(), debianPackage('prometheus')],
  probe: ['--version'],
  install: {
    'apt-get': 'sudo apt-get install prometheus',
    brew: 'brew install prometheus',
    dnf: 'sudo dnf install golang-github-prometheus',
    pacman: 'sudo pacman -S prometheus',
    apk: 'sudo apk add prometheus',
    scoop: 'scoop install prometheus',
  },
  page: 'https://prometheus.io/download/',
};

/** Returns the path of `prometheus`. Throws the same errors as `findProgram`. */
export function findPrometheus(context: ProgramContext): Promise<string> {
  return findProgram(context, PROMETHEUS);
}
