import { parseSnapshot, SnapshotError } from '../../../decision/snapshot/parse-snapshot.js';
import type { Snapshot } from '../../../decision/snapshot/snapshot.js';
import type { SnapshotAnswer } from '../../../api/answers.js';

/** Parses a snapshot. If it is invalid, returns the reason as a string. */
export function readSnapshot(json: SnapshotAnswer): Snapshot | string {
  try {
    return parseSnapshot(json);
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    return `the snapshot cannot be read: ${error.message}. The service may be newer than this page: reload it`;
  }
}
