import type { ServiceConfig } from '../../config/resolve-service-config.js';
import type { Connection } from '../../kubernetes/access/connection.js';
import type { Discovery } from '../../kubernetes/discovery.js';
import type { Transport } from '../../kubernetes/requests/transport.js';
import type { Answer } from '../../prometheus/answers/answer.js';
import type { SendResult, SourceRequest } from '../../prometheus/client/request.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import type { OwnObjects } from '../../service/own-objects.js';

export interface DoctorContext {
  readonly clock: Clock;
  /** Aborted when the time limit of the whole command has passed. */
  readonly signal: AbortSignal;
  /** Environment variables, which may contain cloud credentials for data sources. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: ServiceConfig;
  readonly isDryRun?: boolean;
  readonly scalers: readonly Scaler[];
}

export interface SourceContext extends DoctorContext {
  readonly source: SourceConfig;
  /** Runs an instant query with the deadline `REQUEST_MS`. Never throws. */
  readonly runQuery: (query: string) => Promise<Answer>;
  readonly startTime: () => Promise<Instant | null>;
  /** Requests a path below a URL of the data source, with the deadline `REQUEST_MS`. Never rejects. */
  readonly probe: (
    url: string,
    path: string,
    request?: Pick<SourceRequest, 'parameters' | 'accept'>,
  ) => Promise<SendResult>;
}

export interface ClusterContext extends DoctorContext {
  readonly transport: Transport;
  readonly connection: Connection;
  readonly discovery: Discovery;
  readonly own: OwnObjects;
  /** Returns the annotations of a namespace, which is read once; empty: it cannot be read. */
  readonly annotationsOf: (namespace: string) => Promise<Readonly<Record<string, string>>>;
  /** Last `Date` header of the API server and the time it was received; null before the first response. */
  readonly serverDate: () => { readonly text: string; readonly at: Instant } | null;
}

export const REQUEST_MS = 5000;

/**
 * Returns the configured data sources. A data source that answers has the detected flavor and the learned window, as in
 * the service.
 */
export function usedSources(
  { prometheus }: ServiceConfig,
  answering: ReadonlyMap<string, SourceContext>,
): ReadonlyMap<string, SourceConfig> {
  return new Map(
    Object.entries(prometheus).map(([name, source]) => [name, answering.get(name)?.source ?? source]),
  );
}

export function sourceSubject({ name }: Pick<SourceConfig, 'name'>): string {
  return `data source ${name}`;
}

export const CLUSTER_SUBJECT = 'cluster';
