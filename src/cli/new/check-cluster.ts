import { createTransport } from '../../kubernetes/requests/transport.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import type { TargetRef } from '../../scaler/spec.js';
import { withDeadline } from '../../units/clock.js';
import type { CommandIo } from '../output/io.js';
import { VERSION } from '../output/version.js';
import type { ClusterAccess } from './connect.js';
import { findKind } from './find-kind.js';
import { checkTarget } from './check-target.js';
import type { NewMetric } from './new-options.js';
import type { ParsedTarget } from '../reach/target-kind.js';

interface ClusterCheck {
  /** Null if the cluster does not have the kind or does not answer. */
  readonly ref: TargetRef | null;
  readonly warnings: readonly string[];
  /** Why `ref` is null. The text ends a message. */
  readonly failure: string;
}

interface ClusterCheckInput {
  readonly access: ClusterAccess;
  readonly target: ParsedTarget;
  readonly namespace: string;
  readonly metrics: readonly NewMetric[];
  readonly io: CommandIo;
}

/** Time limit for all requests together. */
const DEADLINE_MS = 5000;

/** A cluster that does not answer within 5 s causes a warning, not an error. */
export async function checkCluster(input: ClusterCheckInput): Promise<ClusterCheck> {
  const { access, target, namespace, metrics, io } = input;
  if (access.connection === null) return notChecked(access.failure ?? 'no connection');
  const { clock, signal: parent } = io;
  const userAgent = `promscaler/${VERSION}`;
  const transport = createTransport({ connection: access.connection, clock, userAgent });
  try {
    return await withDeadline(clock, { ms: DEADLINE_MS, parent }, async (signal) => {
      const kind = await findKind(transport, target, signal);
      if ('missing' in kind) return { ref: null, warnings: [kind.missing], failure: kind.missing };
      const warnings = await checkTarget({ transport, ...kind, namespace, metrics, signal });
      return { ref: kind.ref, warnings, failure: '' };
    });
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    return notChecked(error.message);
  } finally {
    transport.close();
  }
}

function notChecked(why: string): ClusterCheck {
  const failure = `the cluster was not checked: ${why}`;
  return { ref: null, warnings: [failure], failure };
}
