import type { ScalerDetail, ScalerView } from '../../api/answers.js';
import type { ServiceConfig } from '../../config/resolve-service-config.js';
import { remediesOf } from '../../decision/remedies.js';
import { remedyText } from '../../decision/snippet.js';
import { type Scaler, scalerKey } from '../../scaler/spec.js';
import { mapAtOnce } from '../../units/semaphore.js';
import { eachOfSource } from '../../config/document-reader.js';
import { objectFile } from '../../config/read-objects.js';
import { targetKey } from '../../kubernetes/targets.js';
import { readOptionsOf } from '../input/service-config.js';
import { type CommandIo, CommandError, orCommandError } from '../output/io.js';
import { connectionSettings } from '../reach/cluster-options.js';
import type { ReachOptions } from '../reach/find-service.js';
import { tryService } from '../reach/service-client.js';
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
    const answer = await tryService(way, io, async ({ listScalers, readDetail }) => {
      const { rows } = await listScalers(key?.split('/', 1)[0] ?? null);
      const found = rows.flatMap((row) => {
        const known = reportedOf(row);
        return known === null ? [] : [{ row, known }];
      });
      return mapAtOnce(found, REQUESTS_AT_ONCE, async ({ row, known }) => {
        const remedies = remediesOf(await readDetail(row)).map(remedyText);
        return [scalerKey(row), { ...known, target: row.target, fix: remedies.join('; ') }] as const;
      });
    });
    if (!(answer instanceof CommandError)) return new Map(answer);
  }
  return new Map();
}

/** The scalers of the running service on the targets of documents. */
interface ServedScalers {
  readonly scalers: readonly Scaler[];
  /** Why some scalers of the service may be missing, as one clause; null: none is missing. */
  readonly missing: string | null;
}

/**
 * Reads from the service of the cluster the scalers on the targets of the given documents, including those of files,
 * except the given documents. A service on this host is not read, because it may belong to another cluster.
 */
export async function readServedScalers(
  given: readonly Scaler[],
  config: ServiceConfig,
  io: CommandIo,
): Promise<ServedScalers> {
  if (given.length === 0) return { scalers: [], missing: null };
  const keys = new Set(given.map(({ key }) => key));
  const targets = new Set(given.map(({ namespace, spec }) => targetKey(namespace, spec.scaleTargetRef)));
  const namespaces = [...new Set(given.map(({ namespace }) => namespace))];
  const served = await tryService({ cluster: connectionSettings(config) }, io, async (client) => {
    const lists = await mapAtOnce(namespaces, REQUESTS_AT_ONCE, client.listScalers);
    const sharing = lists
      .flatMap(({ rows }) => rows)
      .filter((row) => targets.has(targetKey(row.namespace, row.target)) && !keys.has(scalerKey(row)));
    const read = await mapAtOnce(sharing, REQUESTS_AT_ONCE, async (row) => {
      const detail = await orCommandError(() => client.readDetail(row));
      // For example, the scaler was deleted after the list had been read.
      if (detail instanceof CommandError) return `${scalerKey(row)}: ${firstClause(detail)}`;
      return servedScaler(detail, config) ?? `${scalerKey(row)}, which this command rejects`;
    });
    const reasons = [
      ...(lists.some(({ unreachable }) => unreachable > 0)
        ? [`not all replicas of ${client.where} answered`]
        : []),
      ...(lists.every(({ leader }) => leader)
        ? []
        : [`the replica of ${client.where} that answered is not the leader`]),
      ...read.filter((scaler) => typeof scaler === 'string'),
    ];
    return {
      scalers: read.filter((scaler) => typeof scaler !== 'string'),
      missing: reasons.length === 0 ? null : reasons.join('; '),
    };
  });
  return served instanceof CommandError ? { scalers: [], missing: firstClause(served) } : served;
}

/** The next sentence names options of other commands, and further lines repeat errors of documents. */
function firstClause({ message }: CommandError): string {
  return message.split(/\. |:?\n/, 1)[0] ?? '';
}

/** Returns the version of a scaler that the service uses; null: this command rejects that version. */
export function servedScaler(
  { namespace, name, document }: ScalerDetail,
  config: ServiceConfig,
): Scaler | null {
  const object = { namespace, name, specText: JSON.stringify(document['spec']) };
  const source = { file: objectFile(object), content: { object } };
  const [read] = [...eachOfSource(source, readOptionsOf(config))];
  return read?.scaler ?? null;
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
