import type { SourceNames } from './source-names.js';
import type { MetricQueries } from './metric-queries.js';

/** Inputs of an import in addition to the manifest. */
export interface ImportContext {
  /** Namespace of objects that have none. */
  readonly namespace: string;
  readonly isNamespaceGiven: boolean;
  readonly queries: MetricQueries;
  /** Data source for each address that a ScaledObject queries. */
  readonly sources: SourceNames;
  readonly isDryRun: boolean;
}
