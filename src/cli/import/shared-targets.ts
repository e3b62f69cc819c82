import type { ImportedManifest } from '../../importers/import-objects.js';
import { isPlainObject } from '../../scaler/plain-json.js';

/** Returns one line per document with the target of an earlier document. promscaler would scale neither of them. */
export function sharedTargetLines(objects: readonly ImportedManifest[]): readonly string[] {
  const first = new Map<string, ImportedManifest>();
  return objects.flatMap((object) => {
    const { file, label, draft } = object;
    const target = draft?.spec['scaleTargetRef'];
    if (draft === null || !isPlainObject(target)) return [];
    const { apiVersion = '', kind = '', name } = target;
    const key = JSON.stringify([draft.metadata['namespace'], apiVersion, kind, name]);
    const other = first.get(key);
    if (other === undefined) {
      first.set(key, object);
      return [];
    }
    return [
      `${file}: ${label} has the same target as ${other.label}: promscaler scales it only after one of the documents is removed`,
    ];
  });
}
