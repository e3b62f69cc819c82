import { isPlainObject, type PlainObject } from '../scaler/plain-json.js';
import { formatValue } from '../scaler/problems/finding.js';
import { type ImportContext, nameSources } from './manifest/context.js';
import { type ImportedObject, importObject, lossOf, notImported } from './import-object.js';

export interface ManifestValue {
  readonly file: string;
  readonly value: unknown;
  /** Index of the first item in the list, if the value contains only a part of the list. Default: 0. */
  readonly firstItem?: number;
}

export interface ImportedManifest extends ImportedObject {
  readonly file: string;
}

export interface ImportedManifests {
  /** The autoscalers, in the order in which the files contain them. */
  readonly objects: readonly ImportedManifest[];
  readonly others: ReadonlyMap<string, number>;
}

/** Limits the nesting of lists, because no tool writes more levels. */
const DEEPEST_LIST = 3;

export function importObjects(
  values: readonly ManifestValue[],
  given: Omit<ImportContext, 'sources'>,
): ImportedManifests {
  const items = values.flatMap(({ file, value, firstItem = 0 }) =>
    Array.from(itemsOf(value, { depth: 0, firstItem }), (found) => ({ file, ...found })),
  );
  const context = { ...given, sources: nameSources(items.map(({ item }) => item)) };
  const others = new Map<string, number>();
  const imported: ImportedManifest[] = [];
  for (const { file, item, position } of items) {
    const object = importObject(item, context) ?? brokenItem(item, position);
    if (object === null) count(others, kindName(item));
    else imported.push({ ...object, file });
  }
  // Skips an HPA that KEDA has created if the files also contain its ScaledObject.
  const labels = new Set(imported.map(({ label }) => label));
  const own = imported.filter(({ madeFrom }) => madeFrom === undefined || !labels.has(madeFrom));
  return { objects: withoutDuplicates(own), others };
}

interface ListItem {
  readonly item: unknown;
  /** Index in the list; null: the value is not in a list. */
  readonly position: number | null;
}

/**
 * Yields the items of a list, otherwise the value itself. An item of a typed list (`HorizontalPodAutoscalerList`) gets
 * its kind from the list.
 */
function* itemsOf(
  value: unknown,
  { depth, firstItem }: { readonly depth: number; readonly firstItem: number },
  position: number | null = null,
): Generator<ListItem> {
  const items = isPlainObject(value) ? value['items'] : undefined;
  const kind = isPlainObject(value) ? value['kind'] : undefined;
  if (!isPlainObject(value) || !Array.isArray(items) || depth > DEEPEST_LIST || !isListKind(kind)) {
    yield { item: value, position };
    return;
  }
  const inherited: PlainObject =
    kind === 'List' ? {} : { apiVersion: value['apiVersion'], kind: kind.slice(0, -'List'.length) };
  for (const [index, item] of (items as readonly unknown[]).entries()) {
    const whole = isPlainObject(item) ? { ...inherited, ...item } : item;
    yield* itemsOf(whole, { depth: depth + 1, firstItem: 0 }, firstItem + index);
  }
}

/** If a list item is not a Kubernetes object, returns a report about it; otherwise null. */
function brokenItem(item: unknown, position: number | null): ImportedObject | null {
  if (position === null || (isPlainObject(item) && typeof item['kind'] === 'string')) return null;
  const what = isPlainObject(item) ? 'has no kind' : `is ${formatValue(item)}, must be an object`;
  return notImported(`items[${position}]`, [lossOf([], what)]);
}

function isListKind(kind: unknown): kind is string {
  return typeof kind === 'string' && kind.endsWith('List');
}

function kindName(value: unknown): string {
  const kind = isPlainObject(value) ? value['kind'] : undefined;
  return typeof kind === 'string' ? kind : 'no kind';
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/**
 * If several objects of any kind have the same name, keeps the first object, because names of scaler documents must be
 * unique.
 */
function withoutDuplicates(objects: readonly ImportedManifest[]): readonly ImportedManifest[] {
  const first = new Map<string, ImportedManifest>();
  return objects.map((object) => {
    if (object.key === null) return object;
    const other = first.get(object.key);
    if (other === undefined) {
      first.set(object.key, object);
      return object;
    }
    const message = `is not imported: ${other.label} of ${other.file} has the same name, and the names of scaler documents must be unique`;
    const remarks = [...object.remarks, lossOf(['metadata', 'name'], message)];
    return { ...object, ...notImported(object.label, remarks) };
  });
}
