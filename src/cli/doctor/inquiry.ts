import type { ServiceConfig } from '../../config/resolve-service-config.js';
import type { Connection } from '../../kubernetes/access/connection.js';
import type { Discovery } from '../../kubernetes/discovery.js';
import type { Transport } from '../../kubernetes/requests/transport.js';
import type { Answer } from '../../prometheus/answer.js';
import type { Probe } from '../../prometheus/probe.js';
import type { SourceConfig } from '../../prometheus/source-config.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import type { OwnObjects } from '../running/own-objects.js';

/** What all checks of one run share. */
export interface Inquiry {
  readonly clock: Clock;
  /** Aborted when the run has taken too long. */
  readonly signal: AbortSignal;
  /** What data sources sign in with may stand in it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly config: ServiceConfig;
  /** The service runs with `--dry-run`. Left out: false. */
  readonly isDryRun?: boolean;
  /** The documents that are examined. */
  readonly scalers: readonly Scaler[];
}

/** A data source and the ways to ask it. */
export interface SourceInquiry extends Inquiry {
  readonly source: SourceConfig;
  /** One instant query, within the deadline of a request. Never throws. */
  readonly ask: (query: string) => Promise<Answer>;
  readonly startTime: () => Promise<Instant | null>;
  readonly probe: Probe;
}

/** The cluster and the ways to ask it. */
export interface ClusterInquiry extends Inquiry {
  readonly transport: Transport;
  readonly connection: Connection;
  readonly discovery: Discovery;
  /** What the service has for itself there. */
  readonly own: OwnObjects;
  /** The last `Date` header of the API server and when it came; null before the first answer. */
  readonly serverDate: () => { readonly text: string; readonly at: Instant } | null;
}

/** Milliseconds until one request of the doctor must be answered. */
export const REQUEST_MS = 5000;

/** What findings on a data source are filed under. */
export function sourceSubject({ name }: Pick<SourceConfig, 'name'>): string {
  return `data source ${name}`;
}

/** What findings on the cluster are filed under. */
export const CLUSTER_SUBJECT = 'cluster';

/** The value of the only series of an answer; null where there is none, or another number of them. */
export function onlyValue(answer: Answer): number | null {
  if (answer.class !== 'value' && answer.class !== 'partial') return null;
  const [first, second] = answer.series;
  return first === undefined || second !== undefined ? null : first.value;
}

/** The values of one label over all series of an answer, sorted, each once. */
export function labelValues(answer: Answer, label: string): readonly string[] {
  if (answer.class !== 'value' && answer.class !== 'partial') return [];
  const values = answer.series.map(({ labels }) =>
    Object.hasOwn(labels, label) ? labels[label] : undefined,
  );
  return [...new Set(values.filter((value) => value !== undefined && value !== ''))].sort() as string[];
}

/** `a, b, c and 4 more`. */
export function listSome(names: readonly string[], most = 5): string {
  const rest = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${rest}`;
}
