import type { ServiceStatus } from '../../api/answers.js';
import { plural } from '../ui/numbers.js';
import { formatAge, formatSince, isOverdue } from '../ui/times.js';

/** A problem of the service itself, which concerns the person on call. */
export interface Warning {
  readonly tone: 'bad' | 'warn';
  readonly text: string;
}

/** Returns problems of the service, the most urgent first. `error`: why `status` is outdated; null: it is current. */
export function warningsOf(status: ServiceStatus, error: string | null, nowMs: number): readonly Warning[] {
  const { at, dataSources, kubernetes, leader, identity, replicas, rounds, problems } = status;
  const found: Warning[] = [];
  const bad = (text: string): void => void found.push({ tone: 'bad', text });
  const warn = (text: string): void => void found.push({ tone: 'warn', text });
  const since = (time: string): string => `since ${formatSince(Date.parse(time), nowMs)}`;

  if (error !== null) bad(`This page has not been updated ${since(at)}: ${error}`);
  for (const { name, urls, failingSince, dependents } of dataSources) {
    if (failingSince === null) continue;
    const kept =
      dependents === undefined || dependents === 0
        ? ''
        : `: ${plural(dependents, 'scaler')} ${dependents === 1 ? 'keeps its' : 'keep their'} replicas`;
    const where = urls.length === 0 ? '' : ` (${urls.join(', ')})`;
    bad(`Prometheus ${name}${where} has answered no query ${since(failingSince)}${kept}`);
  }
  if (kubernetes.failingSince !== null)
    bad(`The API server has answered no request ${since(kubernetes.failingSince)}: no replicas are changed`);
  if (leader === null && replicas.length < 2)
    bad('No replica of promscaler is known to be the leader: nothing is scaled until one is elected');
  else if (rounds.last !== null && isOverdue(rounds.last.at, rounds.periodSeconds, nowMs))
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
