/** The key that the replicas of a test share. */
export const PEER_KEYS: readonly Buffer[] = [Buffer.from('the-key-that-all-replicas-share-in-tests')];

export const readKeys = (): Promise<readonly Buffer[]> => Promise.resolve(PEER_KEYS);
