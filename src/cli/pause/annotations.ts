import { objectIn, textsIn, type JsonObject } from '../../kubernetes/api/json.js';
import { APPS_ROOT, nameTarget } from '../../kubernetes/targets.js';
import { readWorkload, workloadPath } from '../../kubernetes/scale.js';
import { createTransport } from '../../kubernetes/requests/transport.js';
import { instantOrNull } from '../../units/time.js';
import { PAUSE_ANNOTATIONS } from '../../scaler/spec.js';
import { clusterError } from '../reach/cluster-error.js';
import { ANSWER_DEADLINE_MS, connectToCluster } from '../reach/find-service.js';
import type { CommandIo } from '../output/io.js';
import { VERSION } from '../output/version.js';
import type { PauseTarget } from './find-target.js';
import type { PauseRequest, ResumeOptions } from './pause-options.js';

/** Uses the permissions of the user. Failures are `CommandError`s. */
interface TargetAnnotations {
  readonly read: () => Promise<Readonly<Record<string, string>>>;
  /** Sends one merge patch; null removes an annotation. */
  readonly write: (annotations: Readonly<Record<string, string | null>>) => Promise<void>;
  readonly close: () => void;
}

/** Unused annotations are null, which removes the annotations of an earlier pause. */
export function annotationsOf({
  direction,
  until,
  replicas,
  reason,
}: PauseRequest): Record<string, string | null> {
  return {
    [PAUSE_ANNOTATIONS.paused]: direction === 'both' ? 'true' : direction,
    [PAUSE_ANNOTATIONS.until]: instantOrNull(until),
    [PAUSE_ANNOTATIONS.replicas]: replicas === null ? null : String(replicas),
    [PAUSE_ANNOTATIONS.reason]: reason,
  };
}

export const NO_PAUSE: Readonly<Record<string, null>> = Object.fromEntries(
  Object.values(PAUSE_ANNOTATIONS).map((name) => [name, null]),
);

/** Shows in `managedFields` that the user, not the service, wrote the annotations. */
const FIELD_MANAGER = 'promscaler-pause';

/** Returns readers and writers of the annotations of a target. Sends no request. */
export async function openAnnotations(
  target: PauseTarget,
  options: ResumeOptions,
  io: CommandIo,
): Promise<TargetAnnotations> {
  const connection = await connectToCluster(options, io);
  const transport = createTransport({ connection, clock: io.clock, userAgent: `promscaler/${VERSION}` });
  const { namespace, ref, plural } = target;
  const workload = { transport, kind: { root: APPS_ROOT, plural }, namespace, ref, signal: io.signal };
  const orCommandError = async (verb: string, request: Promise<JsonObject>): Promise<JsonObject> => {
    try {
      return await request;
    } catch (error) {
      const missing = `${nameTarget(namespace, ref)} does not exist`;
      throw clusterError(error, { verb, plural, namespace }, () => missing);
    }
  };
  return {
    read: async () => {
      const object = await orCommandError('get', readWorkload(workload, ANSWER_DEADLINE_MS));
      return textsIn(objectIn(object, 'metadata'), 'annotations');
    },
    write: async (annotations) => {
      const request = transport.request({
        lane: 'write',
        method: 'PATCH',
        path: workloadPath(workload),
        query: { fieldManager: FIELD_MANAGER },
        body: { metadata: { annotations } },
        doing: `annotating ${nameTarget(namespace, ref)}`,
        verb: 'patch',
        resource: plural,
        deadlineMs: ANSWER_DEADLINE_MS,
        signal: io.signal,
      });
      await orCommandError('patch', request);
    },
    close: transport.close,
  };
}
