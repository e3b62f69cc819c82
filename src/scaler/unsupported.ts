import { type Finding, type Path, formatPath } from './finding.js';
import { isPlainObject, valueAt, without } from './plain.js';

/** Planned and not built: finding them is better than `unknown`, and taking them would be worse. */
export const EMPTY_MEANS_ABSENT = ['podDeletionCost'] as const;

/**
 * A spec without the fields that this version has not built, and a finding for each; `path` is where the spec stands.
 * An empty `podDeletionCost` means absent and stays.
 */
export function takeUnsupported(
  document: unknown,
  specPath: Path,
): { readonly value: unknown; readonly findings: readonly Finding[] } {
  const spec = valueAt(document, specPath);
  if (!isPlainObject(spec)) return { value: document, findings: [] };
  const paths: Path[] = [];
  for (const field of EMPTY_MEANS_ABSENT) if (hasContent(spec[field])) paths.push([field]);
  const full = paths.map((path) => [...specPath, ...path]);
  const value = full.reduce<unknown>((rest, path) => without(rest, path), document);
  return { value, findings: full.map(unsupported) };
}

function hasContent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isPlainObject(value) && Object.keys(value).length > 0;
}

function unsupported(path: Path): Finding {
  const message = `${formatPath(path)} is unsupported by this version`;
  return { code: 'unsupported', message, path, at: 'key', offset: null };
}
