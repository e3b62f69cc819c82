import type { LoggedRequest } from '../../../src/simulator/api/requests/request-log.js';
import type { Simulator } from '../../../src/simulator/simulator.js';

/** A change of replicas that the API server has applied. */
export interface AcceptedPatch {
  /** By the clock of the server, in seconds since any origin. */
  readonly atSeconds: number;
  readonly from: number;
  readonly to: number;
}

/** In addition to the windows, a decision is up to a period old when its PATCH arrives. */
const LATENESS_SECONDS = 0.5;

/** Returns the applied changes of a workload's replicas, in order. `first`: its replicas before them. */
export function acceptedPatches(
  simulator: Simulator,
  { namespace, name, first }: { readonly namespace: string; readonly name: string; readonly first: number },
): readonly AcceptedPatch[] {
  let from = first;
  return scalePatches(simulator, namespace, name)
    .filter(({ isApplied }) => isApplied)
    .map((request) => {
      const to = replicasOf(request);
      const patch = { atSeconds: request.monotonicMs / 1000, from, to };
      from = to;
      return patch;
    });
}

/**
 * Returns the violations of I4, I6, I8 and I9 of reliability.md by the requests for a workload, as messages: scale-ups
 * and scale-downs are a window apart, over all processes; each was stored in a ConfigMap before; none sets the current
 * count; each has its preconditions.
 */
export function findViolations(
  simulator: Simulator,
  workload: { readonly namespace: string; readonly name: string; readonly first: number },
  windows: { readonly upSeconds: number; readonly downSeconds: number },
): readonly string[] {
  const { namespace, name } = workload;
  const found: string[] = [];
  const last = { up: Number.NEGATIVE_INFINITY, down: Number.NEGATIVE_INFINITY };
  for (const { atSeconds, from, to } of acceptedPatches(simulator, workload)) {
    if (from === to) found.push(`a PATCH to ${to}, which was there already`);
    const way = to > from ? 'up' : 'down';
    const gap = atSeconds - last[way];
    const window = way === 'up' ? windows.upSeconds : windows.downSeconds;
    if (gap < window - LATENESS_SECONDS)
      found.push(`${from} -> ${to} only ${gap.toFixed(1)} s after the last change ${way}, not ${window} s`);
    last[way] = atSeconds;
  }
  for (const request of scalePatches(simulator, namespace, name)) {
    const body = request.body ?? '';
    if (!body.includes('"uid"') || !body.includes('"resourceVersion"'))
      found.push(`a PATCH without preconditions: ${body}`);
    if (request.isApplied && !wasAnnounced(simulator, request)) found.push(`unannounced: ${body}`);
  }
  return found;
}

function scalePatches(simulator: Simulator, namespace: string, name: string): readonly LoggedRequest[] {
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

/** An intent is applied within 5 s (D of reliability.md). On a busy machine, both requests may arrive late. */
const INTENT_MS = 15_000;

/** Returns whether its intent was stored in a ConfigMap before. */
function wasAnnounced(simulator: Simulator, patch: LoggedRequest): boolean {
  const key = `${patch.namespace ?? ''}.${patch.name ?? ''}`;
  return simulator
    .requests()
    .some(
      (one) =>
        one.resource === 'configmaps' &&
        one.isApplied &&
        one.namespace === patch.namespace &&
        one.monotonicMs <= patch.monotonicMs &&
        patch.monotonicMs - one.monotonicMs < INTENT_MS &&
        announces(one, key, replicasOf(patch)),
    );
}

function announces({ body }: LoggedRequest, key: string, to: number): boolean {
  const { data } = JSON.parse(body ?? '{}') as { readonly data?: Readonly<Record<string, string | null>> };
  const entry = data?.[key];
  if (entry === undefined || entry === null) return false;
  return (JSON.parse(entry) as { readonly intent?: { readonly to?: number } }).intent?.to === to;
}
