/** `replicaHash` -> ID of the last received event. */
export type Positions = ReadonlyMap<string, string>;

const MOST_REPLICAS = 64;
const ID = /^[\w-]{1,64}$/;
const ENTRY = /^([\w-]{1,16})\.([\w-]{1,64})$/;

/** Returns whether a string may be the ID of an event of a replica. */
export function isEventId(text: string): boolean {
  return ID.test(text);
}

/** Returns the ID of an event in the events of all replicas, such as `aB3-x0.mq1-17~Zz9_k2.mq4-3`. */
export function writePositions(positions: Positions): string {
  return [...positions].map(([hash, id]) => `${hash}.${id}`).join('~');
}

/** Returns null if the text is not such an ID. */
export function readPositions(text: string): Positions | null {
  const parts = text.split('~');
  if (parts.length > MOST_REPLICAS) return null;
  const positions = new Map<string, string>();
  for (const part of parts) {
    const [, hash, id] = ENTRY.exec(part) ?? [];
    if (hash === undefined || id === undefined || positions.has(hash)) return null;
    positions.set(hash, id);
  }
  return positions;
}
