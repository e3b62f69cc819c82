import type { ServiceStatus } from '../../api/answers.js';
import type { Load } from '../data/api.js';
import { formatAge, formatSince, isOverdue, plural } from '../ui/formats.js';

/** A problem of the service itself, which concerns the person on call. */
export interface Warning {
  readonly tone: 'bad' | 'warn';
  readonly text: string;
}

/** Data that the page shows, although the last request for the data failed. */
export interface Stale {
  /** When it was loaded, as Unix time in ms. */
  readonly at: number;
  readonly message: string;
}

/** Returns the oldest outdated data on the page; null: there is none. */
export function staleOf(loads: ReadonlyMap<string, Load>): Stale | null {
  const found = [...loads.values()].flatMap(({ at, error }) =>
    at === null || error === null ? [] : [{ at, message: error.message }],
  );
  return found.sort((a, b) => a.at - b.at)[0] ?? null;
}

/**
 * Returns a note if a part of the page does not show the current state of the service; null: there is no such part, as
 * far as is known.
 */
export function notLiveOf(
  status: ServiceStatus | null,
  loads: ReadonlyMap<string, Load>,
  nowMs: number,
): string | null {
  const isFailing = [...loads.values()].some(
    ({ at, error }) => error !== null && (at !== null || !['not-found', 'forbidden'].includes(error.kind)),
  );
  if (isFailing) return 'Not live';
  if (status === null) return null;
  const { leader, identity, replicas, rounds, dataSources, kubernetes } = status;
  const isOld =
    replicas.length < 2 &&
    (leader !== identity || (rounds.last !== null && isOverdue(rounds.last.at, rounds.periodSeconds, nowMs)));
  if (isOld) return 'Not live';
  if (replicas.some(({ isReachable }) => !isReachable)) return 'Partly live';
  const failing = dataSources.filter(({ failingSince }) => failingSince !== null);
  if (failing.length > 0) return `Live except ${missingOf(failing, dataSources.length)}`;
  return kubernetes.failingSince === null ? null : 'Live except API server';
}

/**
 * Returns what the page lacks while the data sources in `failing` do not answer. `total`: the number of all data
 * sources.
 */
function missingOf(failing: ServiceStatus['dataSources'], total: number): string {
  if (failing.length === total) return 'metrics';
  const [first] = failing;
  return failing.length === 1 && first !== undefined
    ? `"${first.name}"`
    : `${failing.length} of ${total} data sources`;
}

/** Returns problems of the service, the most urgent first. `status` null: it is not known yet. */
export function warningsOf(
  status: ServiceStatus | null,
  stale: Stale | null,
  nowMs: number,
): readonly Warning[] {
  const found: Warning[] = [];
  const bad = (text: string): void => void found.push({ tone: 'bad', text });
  const warn = (text: string): void => void found.push({ tone: 'warn', text });
  const since = (time: string): string => `since ${formatSince(Date.parse(time), nowMs)}`;

  if (stale !== null)
    bad(`This page has not been updated since ${formatSince(stale.at, nowMs)}: ${stale.message}`);
  if (status === null) return found;
  const { dataSources, kubernetes, leader, identity, replicas, rounds, problems } = status;
  for (const { name, urls, failingSince, dependents } of dataSources) {
    if (failingSince === null) continue;
    const kept =
      dependents === undefined || dependents === 0
        ? ''
        : `: ${plural(dependents, 'scaler')} ${dependents === 1 ? 'keeps its' : 'keep their'} replicas`;
    const where = urls.length === 0 ? '' : ` (${urls.join(', ')})`;
    bad(`Data source ${name}${where} has answered no query ${since(failingSince)}${kept}`);
  }
  if (kubernetes.failingSince !== null)
    bad(`The API server has answered no request ${since(kubernetes.failingSince)}: no replicas are changed`);
  if (leader === null && replicas.length < 2)
    bad('No replica of promscaler is known to be the leader: nothing is scaled until one is elected');
  else if (stale === null && rounds.last !== null && isOverdue(rounds.last.at, rounds.periodSeconds, nowMs))
    bad(
      `The last round of decisions was ${formatAge(Date.parse(rounds.last.at), nowMs)} ago: nothing is scaled`,
    );
  const gone = replicas.filter(({ isReachable }) => !isReachable).map((replica) => replica.identity);
  if (gone.length > 0)
    bad(
      `${plural(gone.length, 'replica')} of promscaler did not answer (${gone.join(', ')}): scalers are missing`,
    );
  if (leader !== null && replicas.length < 2 && leader !== identity)
    warn(`This replica of promscaler is a standby and shows old data. The leader is ${leader}`);
  const [first, ...others] = problems.filter(({ severity }) => severity === 'error');
  if (first !== undefined)
    warn(
      `${plural(others.length + 1, 'error')} in scaler documents${first.file === null ? '' : `: ${first.file}${first.line === null ? '' : `, line ${first.line}`}`}`,
    );
  return found;
}
