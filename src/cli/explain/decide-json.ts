import { decide } from '../../decision/decide.js';
import type { Decision } from '../../decision/result/decision.js';
import { SnapshotError, parseSnapshot } from '../../decision/snapshot/parse-snapshot.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import { CommandError } from '../output/io.js';

/** Decides on a snapshot. Throws `CommandError` if it is invalid. `called`: what the message calls the snapshot. */
export function decideJson(
  json: unknown,
  isFromService: boolean,
  called = 'the snapshot',
): { readonly snapshot: Snapshot; readonly decision: Decision } {
  try {
    const snapshot = parseSnapshot(json);
    return { snapshot, decision: decide(snapshot) };
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    const hint = isFromService ? '. The service may be newer than this command' : '';
    throw new CommandError(`${called} is invalid: ${error.message}${hint}`);
  }
}
