export interface Peer {
  readonly identity: string;
  /** URL of its HTTP server; null: unknown. */
  readonly address: string | null;
}

export interface Fleet {
  /** The identity of this replica. */
  readonly identity: string;
  /** Whether this replica decides the scaler `NAMESPACE/NAME`. */
  readonly isOwn: (key: string) => boolean;
  /** Returns the other replica that decides a scaler; null: unknown. */
  readonly ownerOf: (key: string) => Peer | null;
  readonly peers: () => readonly Peer[];
  /** The keys that all replicas share. The first one seals. Without a key, no replica is queried. Never rejects. */
  readonly keys: () => Promise<readonly Buffer[]>;
}
