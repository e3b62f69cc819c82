import { isPlainObject, type PlainObject } from '../scaler/plain-json.js';
import type { ImportContext } from './manifest/context.js';
import { type ImportedObject, importObject } from './import-object.js';
import { nameSources } from './manifest/source-names.js';
import type { Remark } from './draft/remarks.js';

export interface ManifestValue {
  readonly file: string;
  readonly value: unknown;
}

/** An imported object and the file that contains it. */
export interface ImportedManifest extends ImportedObject {
  readonly file: string;
}

export interface ImportedManifests {
  /** Autoscalers, in the order of the files. */
  readonly objects: readonly ImportedManifest[];
  readonly others: ReadonlyMap<string, number>;
}

/** No tool writes deeper nested lists. */
const DEEPEST_LIST = 3;

export function importObjects(
  values: readonly ManifestValue[],
  given: Omit<ImportContext, 'sources'>,
): ImportedManifests {
  const items = values.flatMap(({ file, value }) =>
    Array.from(itemsOf(value, 0), (item) => ({ file, item })),
  );
  const context = { ...given, sources: nameSources(items.map(({ item }) => item)) };
  const others = new Map<string, number>();
  const imported: ImportedManifest[] = [];
  for (const { file, item } of items) {
    const object = importObject(item, context);
    if (object === null) count(others, kindName(item));
    else imported.push({ ...object, file });
  }
  // If a file contains a ScaledObject, the HPA that KEDA created for it is skipped.
  const labels = new Set(imported.map(({ label }) => label));
  const own = imported.filter(({ madeFrom }) => madeFrom === undefined || !labels.has(madeFrom));
  return { objects: withoutDuplicates(own), others };
}

/** Yields the items of a list. Items of a typed list (`HorizontalPodAutoscalerList`) have no kind of their own. */
function* itemsOf(value: unknown, depth: number): Generator {
  const items = isPlainObject(value) ? value['items'] : undefined;
  const kind = isPlainObject(value) ? value['kind'] : undefined;
  if (!isPlainObject(value) || !Array.isArray(items) || depth > DEEPEST_LIST || !isListKind(kind)) {
    yield value;
    return;
  }
  const inherited: PlainObject =
    kind === 'List' ? {} : { apiVersion: value['apiVersion'], kind: kind.slice(0, -'List'.length) };
  for (const item of items as readonly unknown[])
    yield* itemsOf(isPlainObject(item) ? { ...inherited, ...item } : item, depth + 1);
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

/** The names of scaler documents must be unique, even for objects of different kinds: the first one is kept. */
function withoutDuplicates(objects: readonly ImportedManifest[]): readonly ImportedManifest[] {
  const first = new Map<string, ImportedManifest>();
  return objects.map((object) => {
    if (object.key === null) return object;
    const other = first.get(object.key);
    if (other === undefined) {
      first.set(object.key, object);
      return object;
    }
    const remark: Remark = {
      path: ['metadata', 'name'],
      message: `is not imported: ${other.label} of ${other.file} has the same name, and names of scaler documents are unique`,
      at: [],
      kind: 'loss',
    };
    return { ...object, key: null, text: null, draft: null, remarks: [...object.remarks, remark] };
  });
}
