import type { SourceNames } from './source-names.js';
import type { MetricQueries } from './metric-queries.js';

/** What an import knows besides the manifest. */
export interface ImportContext {
  /** The namespace of an object that has none. */
  readonly namespace: string;
  /** Whether the user chose `namespace`. */
  readonly isNamespaceGiven: boolean;
  /** Finds the queries of metrics of the custom and external metrics API. */
  readonly queries: MetricQueries;
  /** The data source of each address that a ScaledObject queries. */
  readonly sources: SourceNames;
  /** Sets `dryRun: true` in each document. */
  readonly isDryRun: boolean;
}
