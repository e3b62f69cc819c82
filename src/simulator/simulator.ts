import type { Clock } from '../units/clock.js';
import type { ApiContext } from './api/requests/request.js';
import { createObject } from './api/writes/create.js';
import { type FaultMatch, FaultPlan } from './api/requests/faults.js';
import { type KubeObject, namespaceOf } from './objects/kube-object.js';
import { type LoggedRequest, RequestLog } from './api/requests/request-log.js';
import { Catalog, NAMESPACES, type Resource } from './objects/resources.js';
import type { Rbac } from './api/requests/rules.js';
import { makeApiServer } from './api/server.js';
import { Store } from './objects/store.js';
import { Watches } from './api/reads/watch.js';
import { patchObject } from './api/writes/write.js';
import type { Behavior, Runtime } from './controllers/runtime.js';
import { loadCel } from './validation/cel-rules.js';
import { serveDefinitions } from './validation/definition.js';
import { NamespaceController } from './controllers/namespaces.js';
import { type ManifestOptions, makeManifest } from './controllers/manifests.js';
import { WorkloadControllers } from './controllers/workloads.js';
import { type ExporterFaults, makeExporterServer } from './exporters.js';
import { type JsonObject, numberAt, stringAt } from './kinds/json.js';
import { type KubeconfigOptions, kubeconfigText } from './api/requests/access.js';
import type { Curve } from './controllers/load.js';
import type { PodTiming } from './controllers/step-workload.js';
import { seededRandom } from './objects/names.js';
import { listen, shut } from './sockets.js';

/** Interval of bookmarks, as in the real server. */
const BOOKMARK_SECONDS = 60;

export interface WorkloadOptions extends ManifestOptions {
  readonly behavior?: Partial<Omit<Behavior, 'timing'>> & { readonly timing?: Partial<PodTiming> };
  /**
   * Age of the initial pods, which are ready; default 3600. Null: the pods are created at the start and are pending.
   */
  readonly podAgeSeconds?: number | null;
}

export interface SimulatorOptions {
  readonly clock: Clock;
  /** Port of the API. Default: any free port. */
  readonly port?: number;
  /** Port of the exporters. Default: any free port. */
  readonly exporterPort?: number;
  readonly workloads?: readonly WorkloadOptions[];
  /** Namespaces besides `default`, `kube-system` and the namespaces of the workloads. */
  readonly namespaces?: readonly string[];
  readonly rbac?: Rbac;
  /** A number from 0 to below 1 that determines random names and uids. Default: `clock.random()`. */
  readonly seed?: number;
  /** How many requests the log keeps; default 10,000. */
  readonly requestLogSize?: number;
  /** How long every request for a resource gets 403, as from a real server that is starting. Default: 0. */
  readonly startingSeconds?: number;
  /** The address in the answer to `GET /api`. Default: the host of the request. */
  readonly advertisedAddress?: string;
  /** Whether controllers run. Without them, workloads get no pods, and deleted namespaces remain. Default: true. */
  readonly hasControllers?: boolean;
  readonly resources?: readonly Resource[];
}

/** Identifies a workload. `kind` is only needed if two workloads have the same name. */
interface WorkloadName {
  readonly namespace: string;
  readonly name: string;
  readonly kind?: string;
}

interface WorkloadView {
  readonly replicas: number;
  readonly pods: readonly string[];
  readonly readyPods: number;
  /** The mean over the ready pods. */
  readonly requestsPerSecondPerPod: number;
}

interface Cluster {
  /** Creates an object, and its namespace if that does not exist. */
  readonly addObject: (manifest: JsonObject) => KubeObject;
  readonly addWorkload: (options: WorkloadOptions) => void;
  /** Returns an object. `resource`: `GROUP/PLURAL`, or for the core group `/PLURAL`. */
  readonly getObject: (resource: string, namespace: string | null, name: string) => KubeObject | null;
  readonly listObjects: (resource: string, namespace?: string) => readonly KubeObject[];
  readonly describe: (workload: WorkloadName) => WorkloadView;
  /** Sets the curve of the load. The curve starts now. */
  readonly setLoad: (workload: WorkloadName, curve: Curve) => void;
  /** Merges a patch into the pod template, which starts a rolling update. */
  readonly setTemplate: (workload: WorkloadName, patch: JsonObject) => void;
  readonly setReplicas: (workload: WorkloadName, replicas: number, manager?: string) => void;
  /** Makes a pod unready until the function is called again with `isBroken` false. */
  readonly breakPod: (namespace: string, pod: string, isBroken?: boolean) => void;
  /** Drops the history. Watches and continue tokens of earlier revisions get 410 from now on. */
  readonly compact: () => void;
}

export interface Simulator extends Cluster {
  readonly url: string;
  readonly exporterUrl: string;
  /** URL for `http_sd_configs`. With `/cadvisor`, `/pods` or `/queues` appended, it lists only that kind of targets. */
  readonly sdUrl: string;
  readonly faults: FaultPlan;
  readonly watches: Watches;
  readonly exporterFaults: ExporterFaults;
  readonly log: RequestLog;
  readonly requests: () => readonly LoggedRequest[];
  readonly setRbac: (rbac: Rbac) => void;
  /** Stalls all new requests and watches until the returned function is called. */
  readonly stallAll: (match?: FaultMatch) => () => void;
  readonly kubeconfig: (options?: KubeconfigOptions) => string;
  readonly close: () => Promise<void>;
}

/** Starts a cluster (API server, controllers and exporters) on the loopback address. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { clock, startingSeconds = 0, hasControllers = true } = options;
  const random = seededRandom(options.seed ?? clock.random());
  const context: ApiContext = {
    clock,
    random,
    catalog: new Catalog(),
    store: new Store(clock),
    tokens: new Map(),
    cel: await loadCel(),
    advertisedAddress: options.advertisedAddress ?? null,
  };
  for (const resource of options.resources ?? []) context.catalog.add(resource);
  const faults = new FaultPlan();
  const watches = new Watches(context, faults, BOOKMARK_SECONDS);
  const stopServing = serveDefinitions(context, (resource) => watches.close({ resource }));
  const controllers = new WorkloadControllers(context);
  const namespaces = new NamespaceController(context);
  if (!hasControllers) {
    controllers.close();
    namespaces.close();
  }
  const cluster = makeCluster(context, controllers);
  for (const namespace of ['default', 'kube-system', ...(options.namespaces ?? [])])
    cluster.ensureNamespace(namespace);
  for (const workload of options.workloads ?? []) cluster.addWorkload(workload);

  const log = new RequestLog(options.requestLogSize ?? 10_000);
  const timers = new Set<() => void>();
  if (startingSeconds > 0) {
    const endStart = faults.add({}, { kind: 'forbid' });
    timers.add(clock.after(startingSeconds * 1000, endStart));
  }
  let rbac = options.rbac ?? {};
  const api = makeApiServer({
    context,
    rbac: () => rbac,
    faults,
    log,
    watches,
    onClose: (stop) => timers.add(stop),
  });
  const exporterFaults: ExporterFaults = { isDown: false, failingPods: new Set() };
  const exporter = makeExporterServer(controllers, exporterFaults);
  const url = await listen(api, options.port ?? 0);
  const exporterUrl = await listen(exporter, options.exporterPort ?? 0);

  return {
    ...cluster,
    url,
    exporterUrl,
    sdUrl: `${exporterUrl}/sd`,
    faults,
    watches,
    exporterFaults,
    log,
    requests: () => log.entries,
    setRbac: (next) => (rbac = next),
    stallAll: (match = {}) => {
      watches.silence(match);
      return faults.add(match, { kind: 'stall' });
    },
    kubeconfig: (wanted = {}) => {
      const [token] = Object.keys(rbac);
      return kubeconfigText(url, token === undefined ? wanted : { token, ...wanted });
    },
    close: async () => {
      controllers.close();
      namespaces.close();
      stopServing();
      watches.close({}, 'destroy');
      for (const stop of timers) stop();
      await Promise.all([shut(api), shut(exporter)]);
    },
  };
}

function makeCluster(
  context: ApiContext,
  controllers: WorkloadControllers,
): Cluster & { readonly ensureNamespace: (name: string) => void } {
  const { store, catalog, clock } = context;
  const find = ({ namespace, name, kind }: WorkloadName): Runtime => controllers.find(namespace, name, kind);
  const writer = (manager: string): Parameters<typeof createObject>[3] => ({
    manager,
    subresource: '',
    nowMs: clock.now(),
  });

  const addObject = (manifest: JsonObject, ageSeconds = 0): KubeObject => {
    const resource = catalog.byKind(stringAt(manifest, 'apiVersion') ?? '', stringAt(manifest, 'kind') ?? '');
    if (resource === null)
      throw new Error(`adding an object: ${stringAt(manifest, 'kind') ?? 'nothing'} is not served`);
    const namespace = resource.namespaced ? (stringAt(manifest, 'metadata', 'namespace') ?? 'default') : null;
    if (namespace !== null) ensureNamespace(namespace);
    const nowMs = clock.now() - ageSeconds * 1000;
    const creation = { keepsStatus: true };
    return createObject(
      context,
      { resource, namespace },
      manifest,
      { ...writer('simulator'), nowMs },
      creation,
    );
  };
  const ensureNamespace = (name: string): void => {
    if (store.get(NAMESPACES, null, name) === null)
      addObject({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  };
  const patch = (workload: WorkloadName, body: JsonObject, manager: string): void => {
    const { kind, namespace, name } = find(workload);
    const resource = catalog.byKind(kind.apiVersion, kind.kind);
    if (resource === null) return;
    const target = { resource, subresource: '', namespace, name };
    const contentType = 'application/merge-patch+json';
    patchObject(context, target, { contentType, body: JSON.stringify(body) }, writer(manager));
  };

  return {
    ensureNamespace,
    addObject,
    addWorkload: (options) => {
      const { podAgeSeconds = 3600 } = options;
      addObject(makeManifest(options), podAgeSeconds ?? 0);
      const runtime = find(options);
      const { timing, ...behavior } = options.behavior ?? {};
      controllers.setBehavior(runtime, { ...behavior, timing: { ...runtime.behavior.timing, ...timing } });
      if (podAgeSeconds !== null) controllers.settleAsOld(runtime, podAgeSeconds);
    },
    getObject: (resource, namespace, name) => store.get(resource, namespace, name),
    listObjects: (resource, namespace) =>
      [...store.all(resource)].filter(
        (object) => namespace === undefined || namespaceOf(object) === namespace,
      ),
    describe: (workload) => describeRuntime(controllers, find(workload)),
    setLoad: (workload, load) => controllers.setBehavior(find(workload), { load }),
    setTemplate: (workload, template) => patch(workload, { spec: { template } }, 'simulator'),
    setReplicas: (workload, replicas, manager = 'simulator') =>
      patch(workload, { spec: { replicas } }, manager),
    breakPod: (namespace, pod, isBroken = true) => controllers.breakPod(namespace, pod, isBroken),
    compact: () => store.compact(),
  };
}

function describeRuntime(controllers: WorkloadControllers, runtime: Runtime): WorkloadView {
  controllers.accrue(runtime);
  const isLiving = runtime.pods.filter((pod) => pod.deletedAt === null);
  return {
    replicas: numberAt(runtime.object ?? undefined, 'spec', 'replicas') ?? 0,
    pods: isLiving.map((pod) => pod.name),
    readyPods: [...runtime.written.values()].filter((phase) => phase === 'ready').length,
    requestsPerSecondPerPod: runtime.load.requestsPerSecond,
  };
}
