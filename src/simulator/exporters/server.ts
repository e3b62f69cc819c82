import { type Server, type ServerResponse, createServer } from 'node:http';
import type { Runtime } from '../controllers/runtime.js';
import type { WorkloadControllers } from '../controllers/workloads.js';
import { applicationPage, cadvisorPage, queuePage } from './pages.js';
import { statePage } from './state-page.js';

export interface ExporterFaults {
  /** Answers 503 to every scrape. */
  isDown: boolean;
  /** `NAMESPACE/POD` of pods whose application answers 503. */
  readonly failingPods: Set<string>;
}

interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Creates the server that Prometheus scrapes: `/cadvisor`, `/state` (kube-state-metrics), `/queues` and
 * `/pods/NAMESPACE/NAME`. `/sd` lists all targets for http_sd, `/sd/cadvisor` and so on the targets of one kind. All
 * targets have the label `job`; targets of pods also have `namespace` and `pod`.
 */
export function makeExporterServer(controllers: WorkloadControllers, faults: ExporterFaults): Server {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const host = request.headers.host ?? 'localhost';
    const [root = '', ...rest] = pathname.split('/').filter((part) => part !== '');
    if (root === 'sd') {
      send(
        response,
        200,
        JSON.stringify(discoverTargets(controllers, host, rest[0] ?? null)),
        'application/json',
      );
      return;
    }
    const page = faults.isDown ? null : pageFor(controllers, faults, [root, ...rest]);
    if (page === null) send(response, faults.isDown ? 503 : 404, 'no such page\n');
    else send(response, page === '' ? 503 : 200, page);
  });
}

function send(response: ServerResponse, code: number, body: string, type?: string): void {
  response.writeHead(code, { 'content-type': type ?? 'text/plain; version=0.0.4; charset=utf-8' });
  response.end(body);
}

/** Returns the page; empty: answer 503; null: 404. */
function pageFor(
  controllers: WorkloadControllers,
  faults: ExporterFaults,
  path: readonly string[],
): string | null {
  const [root, namespace = '', pod = ''] = path;
  switch (root) {
    case 'cadvisor':
      for (const runtime of controllers.runtimes) controllers.accrue(runtime);
      return cadvisorPage(controllers.runtimes);
    case 'state':
      return statePage(controllers.runtimes);
    case 'queues':
      for (const runtime of controllers.runtimes)
        if (runtime.behavior.queue !== null) controllers.accrue(runtime);
      return queuePage(controllers.runtimes);
    case 'pods': {
      const runtime = controllers.runtimeOfPod(namespace, pod);
      if (runtime === null) return null;
      if (faults.failingPods.has(`${namespace}/${pod}`)) return '';
      controllers.accrue(runtime);
      return applicationPage(runtime, pod);
    }
    default:
      return null;
  }
}

function discoverTargets(
  controllers: WorkloadControllers,
  host: string,
  sort: string | null,
): readonly TargetGroup[] {
  const wants = (name: string): boolean => sort === null || sort === name;
  const single = (name: string): TargetGroup => ({
    targets: [host],
    labels: { job: name, __metrics_path__: `/${name}` },
  });
  const groups = ['cadvisor', 'state', 'queues'].filter(wants).map(single);
  if (wants('pods')) for (const runtime of controllers.runtimes) groups.push(...podTargets(runtime, host));
  return groups;
}

/** Returns pods whose containers have started. `instance` is the pod name, because all pods share one address. */
function podTargets(runtime: Runtime, host: string): readonly TargetGroup[] {
  const groups: TargetGroup[] = [];
  for (const [pod, phase] of runtime.written) {
    if (phase === 'pending') continue;
    const { namespace } = runtime;
    const labels = {
      job: 'pods',
      namespace,
      pod,
      instance: pod,
      __metrics_path__: `/pods/${namespace}/${pod}`,
    };
    groups.push({ targets: [host], labels });
  }
  return groups;
}
