import { quoteForShell } from '../../../units/clean-text.js';

/** Returns the command that explains the decision in effect at `at` (RFC 3339); null: the last decision. */
export function explainCommand(
  name: { readonly namespace: string; readonly name: string },
  at: string | null,
): string {
  const scaler = quoteForShell(`${name.namespace}/${name.name}`);
  return `promscaler explain ${scaler}${at === null ? '' : ` --at ${quoteForShell(at)}`}`;
}

/** Returns a file name with only letters, digits, dots and hyphens. */
export function snapshotFileName(
  name: { readonly namespace: string; readonly name: string },
  at: string,
): string {
  const safe = (text: string): string => text.replace(/[^\w.-]/g, '-');
  return `${safe(name.namespace)}-${safe(name.name)}-${safe(at)}.json`;
}
