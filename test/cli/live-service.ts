import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { VERSION } from '../../src/cli/output/version.js';
import { decide } from '../../src/decision/decide.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { createApp } from '../../src/server/app.js';
import type { AppParts } from '../../src/server/app.js';
import { noChange } from '../../src/telemetry/cycle-record.js';
import type { CycleRecord } from '../../src/telemetry/cycle-record.js';
import type { Ledger } from '../../src/telemetry/ledger.js';
import type { Records } from '../../src/telemetry/records.js';
import { aDocument } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { partsOf } from '../server/app-parts.js';
import { folderOf, runCli } from './fake-io.js';

/** The instant of every snapshot in these tests. */
export const NOW = '2026-01-01T00:00:00Z';

/** A server on a free port of the loopback. */
export interface Listening {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export async function listen(app: RequestListener): Promise<Listening> {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns the app of the service, with this ledger and other parts. */
export function appOf(
  ledger: Ledger,
  others: Partial<Records> = {},
  api: Partial<AppParts['api']> = {},
): Express {
  return createApp(partsOf({ ...others, ledger }, { api: { version: VERSION, ...api } }));
}

/** A service proxy of the API server in front of `service`; `services` is its answer to the list of Services. */
export function apiServer(service: RequestListener, services: readonly object[]): RequestListener {
  return (request, response) => {
    const url = request.url ?? '';
    const proxied = /^\/api\/v1\/namespaces\/monitoring\/services\/http:promscaler:8080\/proxy(\/.*)$/.exec(
      url,
    );
    if (proxied !== null) {
      request.url = proxied[1] ?? '/';
      service(request, response);
      return;
    }
    const isList = /^\/api\/v1\/(namespaces\/\w+\/)?services\?labelSelector=/.test(url);
    response.statusCode = isList ? 200 : 404;
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ kind: isList ? 'ServiceList' : 'Status', items: isList ? services : [] }));
  };
}

/** A Service as the chart creates it. */
export function serviceIn(namespace: string): object {
  return { metadata: { name: 'promscaler', namespace }, spec: { ports: [{ name: 'http', port: 8080 }] } };
}

/** The environment of a user whose kubeconfig names the server at `url`. */
export function kubeconfigFor(url: string): Readonly<Record<string, string>> {
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    clusters: [{ name: 'test', cluster: { server: url } }],
    users: [{ name: 'test', user: {} }],
  };
  return { KUBECONFIG: `${folderOf({ config: JSON.stringify(kubeconfig) })}/config` };
}

/** Returns the JSON of a snapshot of 4 ready pods with cpu at `percent` of their requests, target 60 %. */
export function cpuSnapshot(
  percent: number,
  {
    name = 'web',
    namespace = 'shop',
    ...rest
  }: Readonly<Record<string, unknown>> & { name?: string; namespace?: string } = {},
): Readonly<Record<string, unknown>> {
  const names = ['a', 'b', 'c', 'd'];
  return {
    scaler: scalerDocument({ name, namespace }),
    now: NOW,
    target: { specReplicas: 4 },
    pods: names.map((pod) => readyPod(pod)),
    samples: [
      {
        at: '2025-12-31T23:59:45Z',
        windowSeconds: 120,
        containers: Object.fromEntries(names.map((pod) => [pod, { app: percent / 100 }])),
      },
    ],
    state: { recommendations: [] },
    ...rest,
  };
}

export function readyPod(name: string): Readonly<Record<string, unknown>> {
  return {
    name,
    phase: 'Running',
    startTime: '2025-12-31T23:00:00Z',
    ready: true,
    readyChangedAt: '2025-12-31T23:00:10Z',
    requests: { app: { cpu: '1' } },
  };
}

/** Builds a document with cpu at 60 % and 2 to 10 replicas. */
export function scalerDocument({
  name = 'web',
  namespace = 'shop',
  ...spec
}: Readonly<Record<string, unknown>> & { name?: string; namespace?: string } = {}): Readonly<
  Record<string, unknown>
> {
  return aDocument(
    {
      scaleTargetRef: { name },
      minReplicas: 2,
      maxReplicas: 10,
      metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 60 } } }],
      ...spec,
    },
    { name, namespace },
  );
}

/** Builds the record of a cycle with this snapshot, by default without a change. */
export function recordOf(json: unknown, overrides: Partial<CycleRecord> = {}): CycleRecord {
  const snapshot = parseSnapshot(json);
  const decision = decide(snapshot);
  return {
    scaler: snapshot.scaler,
    at: snapshot.now,
    snapshot,
    decision,
    outcome: noChange(decision.currentReplicas),
    conditions: decision.conditions,
    pause: null,
    dryRun: false,
    seconds: { observe: 0, decide: 0, act: 0 },
    ...overrides,
  };
}

/** Returns the output of `explain --snapshot -`; throws if it fails or prints an error. */
export async function explainSnapshot(snapshot: unknown): Promise<string> {
  const { exitCode, stdout, stderr } = await runCli(['explain', '--snapshot', '-'], {
    stdin: JSON.stringify(snapshot),
    clock: new ManualClock('2026-01-01T00:00:30Z'),
  });
  if (exitCode !== 0 || stderr !== '') throw new Error(`explain exited with ${exitCode}: ${stderr}`);
  return stdout;
}
