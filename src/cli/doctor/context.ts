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

/** Inputs that all checks share. */
export interface DoctorContext {
  readonly clock: Clock;
  /** Aborted when the time limit of the whole run is exceeded. */
  readonly signal: AbortSignal;
  /** The environment; cloud credentials of data sources are read from it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly config: ServiceConfig;
  /** Whether the service runs with `--dry-run`. Default: false. */
  readonly isDryRun?: boolean;
  /** The scalers to check. */
  readonly scalers: readonly Scaler[];
}

/** One data source and its clients. */
export interface SourceContext extends DoctorContext {
  readonly source: SourceConfig;
  /** Runs one instant query with the deadline `REQUEST_MS`. Never throws. */
  readonly runQuery: (query: string) => Promise<Answer>;
  readonly startTime: () => Promise<Instant | null>;
  readonly probe: Probe;
}

/** The cluster and its clients. */
export interface ClusterContext extends DoctorContext {
  readonly transport: Transport;
  readonly connection: Connection;
  readonly discovery: Discovery;
  /** Where the service keeps its Lease and its state. */
  readonly own: OwnObjects;
  /** The last `Date` header of the API server and when it was received; null before the first response. */
  readonly serverDate: () => { readonly text: string; readonly at: Instant } | null;
}

/** Deadline of one request, in milliseconds. */
export const REQUEST_MS = 5000;

/** Returns the subject of results about a data source. */
export function sourceSubject({ name }: Pick<SourceConfig, 'name'>): string {
  return `data source ${name}`;
}

/** The subject of results about the cluster. */
export const CLUSTER_SUBJECT = 'cluster';
