import { checkDocument } from './check-document.js';
import { deepFreeze } from './plain-json.js';
import type { Problem } from './problems/problem.js';
import { unplacedProblem } from './problems/unplaced-problem.js';
import { resolveSpec } from './resolve/resolve-spec.js';
import type { DocumentInput } from './schema/document-schema.js';
import type { Scaler } from './spec.js';

/** A scaler, where the value has a meaning, and all that is wrong with it. */
export interface ParsedScaler {
  /** Frozen. Null where a problem leaves it without a meaning. */
  readonly scaler: Scaler | null;
  readonly problems: readonly Problem[];
}

/**
 * The scaler that a plain value stands for, service defaults merged in already. Where only rules over several fields
 * are broken (max below min, a tolerance above 1 ...) there is a scaler *and* an error: whoever configures refuses it,
 * whoever replays a snapshot goes on. The problems have no file and no place.
 */
export function parseScaler(value: unknown): ParsedScaler {
  const { findings, document } = checkDocument(value);
  return {
    scaler: document === null ? null : buildScaler(document),
    problems: findings.map((found) => unplacedProblem(found)),
  };
}

/** The frozen scaler of a document that has passed its checks. */
export function buildScaler(document: DocumentInput): Scaler {
  const { name, namespace } = document.metadata;
  return deepFreeze({ namespace, name, document, spec: resolveSpec(document.spec) });
}
