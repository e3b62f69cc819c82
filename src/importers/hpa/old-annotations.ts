import type { PlainObject } from '../../scaler/plain-json.js';
import { type Path, formatValue } from '../../scaler/problems/finding.js';
import { JsonBoundsError, parseJsonWithin } from '../../units/json-bounds.js';
import { readPlain } from '../../scaler/read/read-plain.js';
import { type Fields, readFields } from '../manifest/fields.js';
import type { RemarkLog } from '../draft/remarks.js';

const PREFIX = 'autoscaling.alpha.kubernetes.io/';
const BOUNDS = { depth: 32, items: 20_000 };

/**
 * Reads the annotations in which autoscaling/v1 stores fields of autoscaling/v2. In autoscaling/v1, `spec` has only the
 * target CPU utilization. The annotations `conditions` and `current-metrics` are status and are ignored.
 */
export function readOldAnnotations(
  annotations: PlainObject,
  log: RemarkLog,
): { readonly metrics: readonly Fields[]; readonly behavior: Fields | undefined } {
  const metrics = readJson('metrics', annotations, log);
  const behavior = readJson('behavior', annotations, log);
  return {
    metrics: metrics === undefined ? [] : readList(metrics.value, metrics.path, log),
    behavior:
      behavior === undefined
        ? undefined
        : (readFields(behavior.value, behavior.path, log, { isCaseless: true }) ?? undefined),
  };
}

function readList(value: unknown, path: Path, log: RemarkLog): readonly Fields[] {
  if (!Array.isArray(value)) {
    log.lose(path, `is ${formatValue(value)}, must be a list; it is not carried over`);
    return [];
  }
  return value.flatMap((item: unknown, index) => readFields(item, [...path, index], log) ?? []);
}

function readJson(
  name: string,
  annotations: PlainObject,
  log: RemarkLog,
): { readonly value: unknown; readonly path: Path } | undefined {
  const text = annotations[`${PREFIX}${name}`];
  const path = ['metadata', 'annotations', `${PREFIX}${name}`];
  if (typeof text !== 'string') return undefined;
  try {
    return { value: readPlain(parseJsonWithin(text, BOUNDS)).value, path };
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof JsonBoundsError)) throw error;
    log.lose(path, `is not JSON (${error.message}); it is not carried over`);
    return undefined;
  }
}
