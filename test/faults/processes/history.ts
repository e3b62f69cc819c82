import { bucketOf, configMapName } from '../../../src/kubernetes/state/state-key.js';
import type { LoggedRequest } from '../../../src/simulator/api/requests/request-log.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import type { Instant } from '../../../src/units/time.js';

type Requests = Pick<Simulator, 'requests'>;

/** A change of replicas that the API server has applied. */
export interface AcceptedPatch {
  /** By the clock of the server, in seconds since any origin. */
  readonly atSeconds: number;
  readonly from: number;
  readonly to: number;
  readonly request: LoggedRequest;
}

/** In addition to the windows, a decision is up to a period old when its PATCH arrives. */
const LATENESS_SECONDS = 0.5;

/** Returns the applied changes of a workload's replicas, in order. `first`: its replicas before them. */
export function acceptedPatches(
  simulator: Requests,
  { namespace, name, first }: { readonly namespace: string; readonly name: string; readonly first: number },
): readonly AcceptedPatch[] {
  let from = first;
  return scalePatches(simulator, namespace, name)
    .filter(({ isApplied }) => isApplied)
    .map((request) => {
      const to = replicasOf(request);
      const patch = { atSeconds: request.monotonicMs / 1000, from, to, request };
      from = to;
      return patch;
    });
}

/**
 * Returns the violations of I4, I6, I8 and I9 of reliability.md by the requests for a workload, as messages: scale-ups
 * and scale-downs are a window apart, over all processes; each was stored in a ConfigMap before; none sets the current
 * count; each has its preconditions. `logs`: the log of each replica, of all its processes.
 *
 * A machine that is busy enough delays the answers to reads of ConfigMaps beyond their deadline. So a scale-up may lack
 * its intent, and start no window for the next process, while the service logs that the ConfigMap failed (W11).
 */
export function findViolations(
  simulator: Requests,
  workload: { readonly namespace: string; readonly name: string; readonly first: number },
  {
    windows,
    logs,
  }: {
    readonly windows: { readonly upSeconds: number; readonly downSeconds: number };
    readonly logs: readonly string[];
  },
): readonly string[] {
  const { namespace, name } = workload;
  const found: string[] = [];
  const patches = scalePatches(simulator, namespace, name);
  for (const { body } of patches)
    if (body?.includes('"uid"') !== true || !body.includes('"resourceVersion"'))
      found.push(`a PATCH without preconditions: ${body}`);
  const last = { up: Number.NEGATIVE_INFINITY, down: Number.NEGATIVE_INFINITY };
  for (const { request, atSeconds, from, to } of acceptedPatches(simulator, workload)) {
    if (from === to) found.push(`a PATCH to ${to}, which was there already`);
    const way = to > from ? 'up' : 'down';
    const gap = atSeconds - last[way];
    const window = way === 'up' ? windows.upSeconds : windows.downSeconds;
    if (gap < window - LATENESS_SECONDS)
      found.push(`${from} -> ${to} only ${gap.toFixed(1)} s after the last change ${way}, not ${window} s`);
    const isAnnounced = wasAnnounced(simulator, request, { from, to });
    const mayLackIntent = way === 'up' && logs.some((log) => wasStoreFailing(log, workload, request.at));
    if (!isAnnounced && !mayLackIntent) found.push(`unannounced: ${request.body}`);
    last[way] = isAnnounced ? atSeconds : Number.NEGATIVE_INFINITY;
  }
  return found;
}

function scalePatches(simulator: Requests, namespace: string, name: string): readonly LoggedRequest[] {
  return simulator
    .requests()
    .filter(
      (one) =>
        one.verb === 'patch' &&
        one.subresource === 'scale' &&
        one.namespace === namespace &&
        one.name === name,
    );
}

function replicasOf({ body }: LoggedRequest): number {
  const parsed = JSON.parse(body ?? '{}') as { readonly spec?: { readonly replicas?: number } };
  return parsed.spec?.replicas ?? Number.NaN;
}

/**
 * Returns whether the entry of the workload had the intent of a PATCH when the PATCH was applied. The order of the
 * requests shows that on a machine of any speed; their times do not.
 */
function wasAnnounced(
  simulator: Requests,
  patch: LoggedRequest,
  counts: { readonly from: number; readonly to: number },
): boolean {
  const requests = simulator.requests();
  const key = `${patch.namespace}.${patch.name}`;
  const entry = requests
    .slice(0, requests.indexOf(patch))
    .filter(
      ({ resource, isApplied, namespace }) =>
        resource === 'configmaps' && isApplied && namespace === patch.namespace,
    )
    .map(
      ({ body }) =>
        (JSON.parse(body ?? '{}') as { readonly data?: Readonly<Record<string, string | null>> }).data?.[key],
    )
    .findLast((text) => text !== undefined);
  const { intent } = JSON.parse(entry ?? '{}') as { readonly intent?: Readonly<Record<string, unknown>> };
  const { metadata } = JSON.parse(patch.body ?? '{}') as {
    readonly metadata?: { readonly resourceVersion?: string };
  };
  const { from, to } = counts;
  return (
    intent?.['from'] === from &&
    intent['to'] === to &&
    intent['resourceVersion'] === metadata?.resourceVersion
  );
}

/** Returns whether the last that a replica logged about the ConfigMap of a workload is that it failed. */
function wasStoreFailing(
  log: string,
  workload: { readonly namespace: string; readonly name: string },
  at: Instant,
): boolean {
  const configMap = `${workload.namespace}/${configMapName(bucketOf(workload))}`;
  let isFailing = false;
  // A process that crashes prints a stack, too.
  for (const line of log.split('\n').filter((one) => one.startsWith('{') && one.endsWith('}'))) {
    const said = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (Date.parse(String(said['time'])) > at) break;
    if (said['message'] === 'started') isFailing = false;
    if (said['configMap'] !== configMap) continue;
    if (said['message'] === 'failed to persist scaler state') isFailing = true;
    if (said['message'] === 'scaler state is persisted again') isFailing = false;
  }
  return isFailing;
}
