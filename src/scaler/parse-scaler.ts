import { checkDocument } from './check-document.js';
import { deepFreeze } from './plain-json.js';
import type { Problem } from './problems/problem.js';
import { unplacedProblem } from './problems/unplaced-problem.js';
import { resolveSpec } from './resolve/resolve-spec.js';
import type { DocumentInput } from './schema/document-schema.js';
import type { Scaler } from './spec.js';

export interface ParsedScaler {
  /** Frozen. Null if a problem leaves the value without a meaning. */
  readonly scaler: Scaler | null;
  readonly problems: readonly Problem[];
}

/**
 * Returns the scaler of a plain value into which the service config's `defaults` are merged. If only rules over
 * several fields are broken (max below min, a tolerance above 1 ...) the result has a scaler and an error: as a
 * configuration it is rejected, in a snapshot it is replayed. The problems have no file and no place.
 */
export function parseScaler(value: unknown): ParsedScaler {
  const { findings, document } = checkDocument(value);
  return {
    scaler: document === null ? null : buildScaler(document),
    problems: findings.map((found) => unplacedProblem(found)),
  };
}

/** Returns the frozen scaler of a valid document. */
export function buildScaler(document: DocumentInput): Scaler {
  const { name, namespace } = document.metadata;
  return deepFreeze({ namespace, name, document, spec: resolveSpec(document.spec) });
}
