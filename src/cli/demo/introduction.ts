import { join } from 'node:path';
import type { DemoSettings } from './options.js';

/** What the introduction names. */
export interface IntroducedStage {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly configFile: string;
  readonly serviceUrl: string;
  readonly prometheusUrl: string;
  /** What the user typed to start promscaler. */
  readonly command: string;
}

/** What the demo is, and the commands with which to look further. Each works as it stands, in any other terminal. */
export function introduction(stage: IntroducedStage, { speed, durationSeconds }: DemoSettings): string {
  const { folder, kubeconfig, configFile, serviceUrl, prometheusUrl, command } = stage;
  const end = durationSeconds === null ? 'Ctrl-C' : `${durationSeconds} s or Ctrl-C`;
  const kubectl = `kubectl --kubeconfig ${kubeconfig}`;
  const reach = `--kubeconfig ${kubeconfig}`;
  return `promscaler demo, ${speed} times as fast as life, until ${end}.

A simulated cluster, a real Prometheus that scrapes its pods, and the service as \`promscaler run\` starts it:
  checkout  Deployment   cpu at 60 % of the requests
  search    StatefulSet  20 requests per second for each pod
  mailer    Deployment   30 waiting messages for each pod, with CHPA's windows

To look further, from another terminal:
  ${command} status ${reach}
  ${command} explain checkout ${reach}
  ${command} pause checkout --for 30s ${reach}
  ${command} resume checkout ${reach}
  ${command} doctor --config ${configFile}
  ${kubectl} get scalers
  ${kubectl} get deployments -w
  ${kubectl} describe deployment checkout
  curl ${serviceUrl}/metrics
  curl ${serviceUrl}/api/v1/scalers/shop/checkout

The documents of checkout and search are objects of the cluster, that of mailer is a file. Change one, it is picked up:
  ${kubectl} edit scaler checkout
  ${join(folder, 'scalers', 'mailer.yaml')}

Prometheus' own page: ${prometheusUrl}/graph

`;
}
