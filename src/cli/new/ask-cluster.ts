import { createTransport } from '../../kubernetes/requests/transport.js';
import { KubernetesError } from '../../kubernetes/types.js';
import type { TargetRef } from '../../scaler/spec.js';
import { withDeadline } from '../../units/clock.js';
import type { CommandIo } from '../io.js';
import { VERSION } from '../version.js';
import type { ClusterAccess } from './find-access.js';
import { findKind } from './find-kind.js';
import { lookAtTarget } from './look-at-target.js';
import type { NewMetric } from './new-options.js';
import type { AskedTarget } from './target-kind.js';

/** What the cluster says of a workload. */
export interface ClusterAnswer {
  /** Null where it does not know the kind, or was not asked. */
  readonly ref: TargetRef | null;
  /** Sentences for the user. */
  readonly remarks: readonly string[];
  /** Why `ref` is null, to stand behind "is not known". */
  readonly failure: string;
}

export interface ClusterQuestion {
  readonly access: ClusterAccess;
  readonly asked: AskedTarget;
  readonly namespace: string;
  readonly metrics: readonly NewMetric[];
  readonly io: CommandIo;
}

/** For everything together: a first document is not worth a longer wait. */
const DEADLINE_MS = 5000;

/** Asks the cluster about a workload, for 5 s at most. A cluster that does not answer is one remark, no error. */
export async function askCluster(question: ClusterQuestion): Promise<ClusterAnswer> {
  const { access, asked, namespace, metrics, io } = question;
  if (access.connection === null) return notAsked(access.failure ?? 'there is no way to it');
  const { clock, signal: parent } = io;
  const userAgent = `promscaler/${VERSION}`;
  const transport = createTransport({ connection: access.connection, clock, userAgent });
  try {
    return await withDeadline(clock, { ms: DEADLINE_MS, parent }, async (signal) => {
      const kind = await findKind(transport, asked, signal);
      if ('missing' in kind) return { ref: null, remarks: [kind.missing], failure: kind.missing };
      const remarks = await lookAtTarget({ transport, ...kind, namespace, metrics, signal });
      return { ref: kind.ref, remarks, failure: '' };
    });
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    return notAsked(error.message);
  } finally {
    transport.close();
  }
}

function notAsked(why: string): ClusterAnswer {
  const failure = `the cluster was not asked: ${why}`;
  return { ref: null, remarks: [failure], failure };
}
