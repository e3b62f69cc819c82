import { checkDocument } from '../../scaler/read/parse-scaler.js';
import { valueAt, without } from '../../scaler/plain-json.js';
import { type Finding, formatPath, type Path } from '../../scaler/problems/finding.js';
import { PROBLEM_CLASSES } from '../../scaler/problems/problem-codes.js';
import { type Draft, type DraftItem, type ItemList, ITEM_LISTS, type RemarkLog } from './draft.js';
import { documentOf } from './write-document.js';

/** Limits the passes, each of which removes at least one field. */
const MOST_PASSES = 200;

const REQUIRED = ['metadata.name', 'metadata.namespace', 'spec.scaleTargetRef', 'spec.maxReplicas'];

/**
 * Removes everything that a scaler document does not allow, with a remark for each removal. Null: a required field is
 * missing or invalid.
 */
export function repair(draft: Draft, log: RemarkLog): Draft | null {
  let current = draft;
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const { findings } = checkDocument(documentOf(current));
    const found = findings.find(
      ({ code }) => PROBLEM_CLASSES[code] !== 'warning' && !(code === 'scale-to-zero' && hasTotal(current)),
    );
    if (found === undefined) {
      for (const finding of findings) noteTotal(current, finding, log);
      return current;
    }
    const next = repairOne(current, found, log);
    if (next === null) return null;
    current = next;
  }
  log.lose([], 'has too many errors to repair');
  return null;
}

/** Returns whether a metric has a value without pods. Unlike in `documentOf`, incomplete metrics count. */
function hasTotal({ metrics }: Draft): boolean {
  return metrics.some(({ value }) => 'external' in value || 'object' in value);
}

function repairOne(draft: Draft, found: Finding, log: RemarkLog): Draft | null {
  const [root, field, index] = found.path;
  const list = ITEM_LISTS.find((one) => one === field);
  if (root === 'spec' && list !== undefined && typeof index === 'number')
    return withoutItem(draft, found, { list, index, log });
  const name = formatPath(found.path);
  if (REQUIRED.some((path) => name === path || name.startsWith(`${path}.`)) || root !== 'spec') {
    log.lose([], found.message);
    return null;
  }
  if (field === 'minReplicas') return withMinimum(draft, found, log);
  const path = removable(draft.spec, found.path.slice(1));
  if (path.length === 0) {
    log.lose([], found.message);
    return null;
  }
  log.lose(['spec', ...path], `is not carried over: ${found.message}`);
  return { ...draft, spec: without(draft.spec, path) as Draft['spec'] };
}

/** Returns the path of what is removed: a whole list or, if a field is missing, the object that requires the field. */
function removable(spec: unknown, path: Path): Path {
  const list = path.findIndex((step) => typeof step === 'number');
  let removed = list < 0 ? path : path.slice(0, list);
  while (removed.length > 0 && valueAt(spec, removed) === undefined) removed = removed.slice(0, -1);
  return removed;
}

function withoutItem(
  draft: Draft,
  found: Finding,
  { list, index, log }: { readonly list: ItemList; readonly index: number; readonly log: RemarkLog },
): Draft | null {
  const items = draft[list];
  const itemIndex = indexInDraft(items, index);
  const item = items[itemIndex];
  if (item === undefined) return null;
  // The indexes in the message do not count entries that are commented out, so the path in the manifest replaces them.
  const written = formatPath(['spec', list, index]);
  const message = found.message.replaceAll(written, formatPath(item.from));
  log.at(['spec', list, itemIndex]).lose(item.from, `is commented out: ${message}`);
  return { ...draft, [list]: items.map((one) => (one === item ? { ...item, isOff: true } : one)) };
}

/** The document has no entries that are commented out. Returns -1 for an index that it does not have. */
function indexInDraft(items: readonly DraftItem[], index: number): number {
  return items.flatMap(({ isOff }, at) => (isOff ? [] : [at]))[index] ?? -1;
}

/** The import is exact, and the autoscaler of the manifest multiplies the replicas as well. */
function noteTotal({ metrics }: Draft, { code, path, message }: Finding, log: RemarkLog): void {
  const [, , index] = path;
  if (code !== 'total-as-value' || typeof index !== 'number') return;
  const itemIndex = indexInDraft(metrics, index);
  const from = metrics[itemIndex]?.from ?? [];
  const why = message.slice(message.indexOf(': ') + 2);
  log.at(['spec', 'metrics', itemIndex]).note(from, `The target is that of the manifest, but ${why}`);
}

/** Lowers `minReplicas` to `maxReplicas`, or raises it to 1 if all metrics need pods. */
function withMinimum(draft: Draft, found: Finding, log: RemarkLog): Draft | null {
  const { minReplicas, maxReplicas, ...spec } = draft.spec;
  if (typeof minReplicas !== 'number') return null;
  if (found.code === 'replica-bounds' && typeof maxReplicas === 'number') {
    log.lose(found.path, `is ${minReplicas}, above maxReplicas; ${maxReplicas} is used`);
    return { ...draft, spec: { ...draft.spec, minReplicas: maxReplicas } };
  }
  log.at(['spec', 'maxReplicas']).lose(found.path, `is ${minReplicas}; 1 is used: ${found.message}`);
  return { ...draft, spec: { ...spec, maxReplicas } };
}
