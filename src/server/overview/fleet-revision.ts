import { createHash } from 'node:crypto';

/** Hash of the identity -> revision. `since` contains the revisions of several replicas in one token. */
export type FleetRevisions = ReadonlyMap<string, string>;

/** A URL has at most 2,048 characters. Without a token, the client gets all rows each time. */
const LONGEST_TOKEN = 1800;

export function replicaHash(identity: string): string {
  return createHash('sha256').update(identity).digest('base64url').slice(0, 6);
}

export function writeRevisions(revisions: FleetRevisions): string {
  const token = Buffer.from(JSON.stringify([...revisions].sort())).toString('base64url');
  return token.length <= LONGEST_TOKEN ? token : '';
}

/** Returns null for a token of another API, or without revisions. */
export function readRevisions(token: string | null): FleetRevisions | null {
  if (token === null || token === '') return null;
  try {
    const entries: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    return Array.isArray(entries) && entries.every(isEntry) ? new Map(entries) : null;
  } catch {
    return null;
  }
}

function isEntry(entry: unknown): entry is readonly [string, string] {
  return Array.isArray(entry) && entry.length === 2 && entry.every((part) => typeof part === 'string');
}
