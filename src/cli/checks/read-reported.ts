import type { ScalerView } from '../../api/answers.js';
import type { ServiceConfig } from '../../config/resolve-service-config.js';
import { remediesOf } from '../../decision/remedies.js';
import { remedyText } from '../../decision/snippet.js';
import { scalerKey } from '../../scaler/spec.js';
import { mapAtOnce } from '../../units/semaphore.js';
import { type CommandIo, CommandError } from '../output/io.js';
import { connectionSettings } from '../reach/cluster-options.js';
import type { ReachOptions } from '../reach/find-service.js';
import { withService } from '../reach/service-client.js';
import type { ReportedState } from './scaler-facts.js';

const REQUESTS_AT_ONCE = 8;

/** Tries the service on this host or in this pod first, because that service may use this config. */
export function waysTo(config: ServiceConfig): readonly ReachOptions[] {
  const { port } = config.server;
  const local = port === 0 ? [] : [{ url: `http://127.0.0.1:${port}` }];
  return [...local, { cluster: connectionSettings(config) }];
}

/**
 * Returns the conflicts with other clients and the deleted targets that the service reports, with the advice of
 * `explain`. Only the service has seen the earlier writes (`managedFields` has the last writer) and the targets before
 * they were deleted. Empty: there are none, or no service answers.
 */
export async function readReported(
  key: string | undefined,
  config: ServiceConfig,
  io: CommandIo,
): Promise<ReadonlyMap<string, ReportedState>> {
  for (const way of waysTo(config)) {
    try {
      return await withService(way, io, async ({ listScalers, readDetail }) => {
        const { rows } = await listScalers(key?.split('/', 1)[0] ?? null);
        const found = rows.flatMap((row) => {
          const known = reportedOf(row);
          return known === null ? [] : [{ row, known }];
        });
        const reported = await mapAtOnce(found, REQUESTS_AT_ONCE, async ({ row, known }) => {
          const remedies = remediesOf(await readDetail(row)).map(remedyText);
          return [scalerKey(row), { ...known, target: row.target, fix: remedies.join('; ') }] as const;
        });
        return new Map(reported);
      });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
    }
  }
  return new Map();
}

/** Returns a state that only the service knows, with its message; null: another state. */
function reportedOf({
  state,
  conflictingWriter: writer,
  targetFailure,
}: ScalerView): Pick<ReportedState, 'state' | 'message'> | null {
  if (state.name === 'Conflict')
    return writer === null ? null : { state: 'Conflict', message: writer.message };
  const isDeleted = state.name === 'NoTarget' && targetFailure?.absence === 'deleted';
  return isDeleted ? { state: 'NoTarget', message: state.cause ?? '' } : null;
}
