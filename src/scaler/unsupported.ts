import { type Finding, type Path, formatPath, formatValue } from './finding.js';
import { isPlainObject, valueAt, without } from './plain.js';

/** Planned and not built: finding them is better than `unknown`, and taking them would be worse. */
export const EMPTY_MEANS_ABSENT: readonly string[] = [];

/**
 * A spec without the fields that this version has not built, and a finding for each; `path` is where the spec stands.
 */
export function takeUnsupported(
  document: unknown,
  specPath: Path,
): { readonly value: unknown; readonly findings: readonly Finding[] } {
  const spec = valueAt(document, specPath);
  if (!isPlainObject(spec)) return { value: document, findings: [] };
  const paths: Path[] = [];
  for (const field of EMPTY_MEANS_ABSENT) if (hasContent(spec[field])) paths.push([field]);
  const { paused } = spec;
  if (paused === 'scale-up' || paused === 'scale-down') paths.push(['paused']);
  const full = paths.map((path) => [...specPath, ...path]);
  const value = full.reduce<unknown>((rest, path) => without(rest, path), document);
  return { value, findings: full.map((path) => unsupported(path, valueAt(document, path))) };
}

function hasContent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isPlainObject(value) && Object.keys(value).length > 0;
}

function unsupported(path: Path, value: unknown): Finding {
  const isScalar = typeof value === 'string';
  const name =
    isScalar && path.at(-1) === 'paused' ? `${formatPath(path)}: ${formatValue(value)}` : formatPath(path);
  return {
    code: 'unsupported',
    message: `${name} is unsupported by this version`,
    path,
    at: 'key',
    offset: null,
  };
}
