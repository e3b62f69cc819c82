import type { ScalerDetail } from '../../../api/answers.js';
import { quoteForShell } from '../../../units/clean-text.js';
import { formatWithOffset } from '../../../units/offset-time.js';

type Named = Pick<ScalerDetail, 'namespace' | 'name' | 'doctor'>;

/**
 * Returns the command that explains the decision in effect at `at` (RFC 3339), which it names as the page does, with the
 * offset of the viewer; null: the last decision.
 */
export function explainCommand(scaler: Named, at: string | null): string {
  const name = quoteForShell(`${scaler.namespace}/${scaler.name}`);
  return asPlugin(
    `promscaler explain ${name}${at === null ? '' : ` --at ${quoteForShell(formatWithOffset(Date.parse(at)))}`}`,
    scaler,
  );
}

/** Returns a command as a plugin of kubectl if the service runs in a cluster. */
export function asPlugin(command: string, scaler: Pick<ScalerDetail, 'doctor'>): string {
  return isInCluster(scaler) ? command.replace(/^promscaler /, 'kubectl $&') : command;
}

/** Returns whether the service runs in a cluster. Its command for `doctor` is then a `kubectl exec`. */
export function isInCluster({ doctor }: Pick<ScalerDetail, 'doctor'>): boolean {
  return doctor?.startsWith('kubectl ') === true;
}

/** Returns a file name in which every other character than letters, digits, dots and hyphens is replaced. */
export function snapshotFileName(name: Pick<Named, 'namespace' | 'name'>, at: string): string {
  const safe = (text: string): string => text.replace(/[^\w.-]/g, '-');
  return `${safe(name.namespace)}-${safe(name.name)}-${safe(at)}.json`;
}
