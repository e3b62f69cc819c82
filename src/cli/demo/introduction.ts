import { join } from 'node:path';
import type { CommandIo, OutputStream } from '../output/io.js';
import { DEMO_SCALERS } from './workloads.js';
import type { DemoSettings } from './options.js';
import { OUTAGE_SECONDS } from './revived-prometheus.js';

/** Buffers the output until every scaler has made a decision. */
interface DelayedOutput {
  readonly stdout: OutputStream;
  /**
   * Called after each cycle of a scaler. Returns true once: when the last missing scaler has finished its first cycle.
   */
  readonly noteCycle: (scaler: string) => boolean;
  /** Prints the introduction and the buffered output. A second call does nothing. */
  readonly release: () => void;
}

export function createDelayedOutput(
  { stdout }: Pick<CommandIo, 'stdout'>,
  introduction: string,
): DelayedOutput {
  let waiting: string[] | null = [];
  const seen = new Set<string>();
  const release = (): void => {
    const kept = waiting ?? [];
    if (waiting !== null) stdout.write(introduction);
    waiting = null;
    for (const text of kept) stdout.write(text);
  };
  return {
    stdout: {
      ...stdout,
      write: (text) => {
        if (waiting === null) stdout.write(text);
        else waiting.push(text);
      },
    },
    noteCycle: (scaler) => {
      seen.add(scaler);
      if (waiting === null || seen.size < DEMO_SCALERS) return false;
      release();
      return true;
    },
    release,
  };
}

/** Returns standard error without the log lines about rejected documents, which the demo log already reports. */
export function withoutRefusals(stderr: OutputStream): OutputStream {
  return {
    ...stderr,
    write: (text) => {
      if (!text.includes(' document rejected')) stderr.write(text);
    },
  };
}

interface IntroducedDemo {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly configFile: string;
  readonly serviceUrl: string;
  readonly prometheusUrl: string;
  readonly prometheusPid: number;
  /** The command with which the user started promscaler. */
  readonly command: string;
}

export function introduction(demo: IntroducedDemo, { speed, durationSeconds }: DemoSettings): string {
  const { folder, kubeconfig, configFile, serviceUrl, prometheusUrl, prometheusPid, command } = demo;
  const end = durationSeconds === null ? 'with Ctrl-C' : `after ${durationSeconds} s or with Ctrl-C`;
  const kubectl = `kubectl --kubeconfig ${kubeconfig}`;
  const reach = `--kubeconfig ${kubeconfig}`;
  return `Dashboard: ${serviceUrl}/

promscaler demo, ${speed}x speed. It ends ${end}.

A simulated cluster, a real Prometheus that scrapes its pods, and the service as \`promscaler run\` starts it:
  checkout  Deployment   cpu at 60 % of the requests
  search    StatefulSet  20 requests per second per pod
  mailer    Deployment   30 waiting messages per pod, with a minimum time between two changes

Commands to try in another terminal:
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

The scaler documents of checkout and search are objects in the cluster. The document of mailer is a file. Edit the documents:
  ${kubectl} edit scaler checkout
  ${join(folder, 'scalers', 'mailer.yaml')}

Without Prometheus, all replicas are held. Stop Prometheus (it is started again after ${OUTAGE_SECONDS} s):
  kill ${prometheusPid}

Prometheus UI: ${prometheusUrl}

`;
}
