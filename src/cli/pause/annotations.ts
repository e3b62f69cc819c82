import { PAUSE_ANNOTATIONS } from '../../control/change/pause.js';
import { objectIn, textsIn } from '../../kubernetes/json.js';
import type { JsonObject } from '../../kubernetes/json.js';
import { ConnectionError } from '../../kubernetes/access/kubeconfig.js';
import { APPS_ROOT, nameTarget } from '../../kubernetes/targets.js';
import { createTransport } from '../../kubernetes/requests/transport.js';
import { KubernetesError } from '../../kubernetes/types.js';
import { readWorkload, workloadPath } from '../../kubernetes/workload.js';
import { formatInstant } from '../../units/time.js';
import { ANSWER_DEADLINE_MS, findCluster } from '../reach/find-service.js';
import type { CommandIo } from '../io.js';
import { CommandError } from '../io.js';
import { VERSION } from '../version.js';
import type { PauseTarget } from './find-target.js';
import type { AskedPause, ResumeOptions } from './pause-options.js';

/** The annotations of one target, with the rights of the user. Whatever fails is a `CommandError` with a sentence. */
export interface TargetAnnotations {
  readonly read: () => Promise<Readonly<Record<string, string>>>;
  /** One merge-patch; null takes an annotation away. */
  readonly write: (annotations: Readonly<Record<string, string | null>>) => Promise<void>;
  readonly close: () => void;
}

/** The annotations that make a pause; those of an earlier one that it has not are null. */
export function annotationsOf({
  direction,
  until,
  replicas,
  reason,
}: AskedPause): Record<string, string | null> {
  return {
    [PAUSE_ANNOTATIONS.paused]: direction === 'both' ? 'true' : direction,
    [PAUSE_ANNOTATIONS.until]: until === null ? null : formatInstant(until),
    [PAUSE_ANNOTATIONS.replicas]: replicas === null ? null : String(replicas),
    [PAUSE_ANNOTATIONS.reason]: reason,
  };
}

/** All of them taken away. */
export const NO_PAUSE: Readonly<Record<string, null>> = Object.fromEntries(
  Object.values(PAUSE_ANNOTATIONS).map((name) => [name, null]),
);

/** Shown in `managedFields`, apart from the service itself. */
const FIELD_MANAGER = 'promscaler-pause';

/** Opens the way to the cluster; no server is asked yet. */
export async function openAnnotations(
  target: PauseTarget,
  options: ResumeOptions,
  io: CommandIo,
): Promise<TargetAnnotations> {
  const connection = await connectionOf(options, io);
  const transport = createTransport({ connection, clock: io.clock, userAgent: `promscaler/${VERSION}` });
  const { namespace, ref, plural } = target;
  const place = { transport, kind: { root: APPS_ROOT, plural }, namespace, ref, signal: io.signal };
  const orWhyNot = async (verb: string, request: Promise<JsonObject>): Promise<JsonObject> => {
    try {
      return await request;
    } catch (error) {
      throw explained(error, { verb, target });
    }
  };
  return {
    read: async () => {
      const object = await orWhyNot('get', readWorkload(place, ANSWER_DEADLINE_MS));
      return textsIn(objectIn(object, 'metadata'), 'annotations');
    },
    write: async (annotations) => {
      const request = transport.request({
        lane: 'write',
        method: 'PATCH',
        path: workloadPath(place),
        query: { fieldManager: FIELD_MANAGER },
        body: { metadata: { annotations } },
        doing: `annotating ${nameTarget(namespace, ref)}`,
        verb: 'patch',
        resource: plural,
        deadlineMs: ANSWER_DEADLINE_MS,
        signal: io.signal,
      });
      await orWhyNot('patch', request);
    },
    close: transport.close,
  };
}

async function connectionOf(options: ResumeOptions, io: CommandIo): ReturnType<typeof findCluster> {
  try {
    return await findCluster(options, io);
  } catch (error) {
    throw error instanceof ConnectionError ? new CommandError(error.message) : error;
  }
}

function explained(
  error: unknown,
  { verb, target }: { readonly verb: string; readonly target: PauseTarget },
): unknown {
  if (!(error instanceof KubernetesError)) return error;
  const { namespace, plural, ref } = target;
  if (error.kind === 'forbidden' || error.kind === 'unauthorized')
    return new CommandError(
      `${error.message}: you need the permission to ${verb} ${plural} in namespace ${namespace}`,
    );
  if (error.kind === 'not_found')
    return new CommandError(`there is no ${nameTarget(namespace, ref)}: nothing is changed`);
  return new CommandError(error.message);
}
