import type { ScalerDetail } from '../../../api/answers.js';
import { quoteForShell } from '../../../units/clean-text.js';
import { formatWithOffset } from '../../../units/time.js';

type Named = Pick<ScalerDetail, 'namespace' | 'name' | 'doctor'>;

/**
 * Returns the command that explains the decision in effect at `at` (RFC 3339; null: the last decision). The command
 * contains the time with the UTC offset of the viewer, like the page.
 */
export function explainCommand(scaler: Named, at: string | null): string {
  const name = quoteForShell(`${scaler.namespace}/${scaler.name}`);
  return asPlugin(
    `promscaler explain ${name}${at === null ? '' : ` --at ${quoteForShell(formatWithOffset(Date.parse(at)))}`}`,
    scaler,
  );
}

/**
 * Returns the command for the kubectl plugin (`kubectl promscaler ...`) if the service runs in a cluster, otherwise
 * unchanged.
 */
export function asPlugin(command: string, scaler: Pick<ScalerDetail, 'doctor'>): string {
  return isInCluster(scaler) ? command.replace(/^promscaler /, 'kubectl $&') : command;
}

/** Returns whether the service runs in a cluster: its `doctor` command then starts with `kubectl`. */
export function isInCluster({ doctor }: Pick<ScalerDetail, 'doctor'>): boolean {
  return doctor?.startsWith('kubectl ') === true;
}

/**
 * Returns a file name for the snapshot of a scaler. Characters other than letters, digits, underscores, dots and
 * hyphens become hyphens.
 */
export function snapshotFileName(name: Pick<Named, 'namespace' | 'name'>, at: string): string {
  const safe = (text: string): string => text.replace(/[^\w.-]/g, '-');
  return `${safe(name.namespace)}-${safe(name.name)}-${safe(at)}.json`;
}
