import type { SourceNames } from './source-names.js';
import type { MetricQueries } from './metric-queries.js';

/** Inputs of an import besides the manifest. */
export interface ImportContext {
  /** Namespace of objects without one. */
  readonly namespace: string;
  /** Whether the user set `namespace`. */
  readonly isNamespaceGiven: boolean;
  /** Finds the queries of metrics of the custom and external metrics API. */
  readonly queries: MetricQueries;
  /** Data source for each address that a ScaledObject queries. */
  readonly sources: SourceNames;
  /** Sets `dryRun: true` in each document. */
  readonly isDryRun: boolean;
}
