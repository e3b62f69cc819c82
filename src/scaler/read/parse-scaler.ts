import { checkDocument } from './check-document.js';
import { deepFreeze } from '../plain-json.js';
import type { Problem } from '../problems/problem.js';
import { unplacedProblem } from '../problems/unplaced-problem.js';
import { resolveSpec } from '../resolve/resolve-spec.js';
import type { DocumentInput } from '../schema/document-schema.js';
import { scalerKey, type Scaler } from '../spec.js';

interface ParsedScaler {
  /** Frozen. Null if there is a problem of class `shape`. */
  readonly scaler: Scaler | null;
  readonly problems: readonly Problem[];
}

/**
 * Parses a plain value after `defaults` of the service config were merged in. If it only violates rules across fields
 * (max below min, a tolerance above 1), returns a scaler and an error: the document is rejected as a configuration, but
 * accepted in a snapshot for replay. Problems have no file and no position.
 */
export function parseScaler(value: unknown): ParsedScaler {
  const { findings, document } = checkDocument(value);
  return {
    scaler: document === null ? null : buildScaler(document),
    problems: findings.map((found) => unplacedProblem(found)),
  };
}

/** The document must be valid. The result is frozen. */
export function buildScaler(document: DocumentInput): Scaler {
  const { name, namespace } = document.metadata;
  return deepFreeze({
    key: scalerKey({ namespace, name }),
    namespace,
    name,
    document,
    spec: resolveSpec(document.spec),
  });
}
