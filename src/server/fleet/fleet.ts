export interface Peer {
  readonly identity: string;
  /** URL of its HTTP server; null: unknown. */
  readonly address: string | null;
}

export interface Fleet {
  /** Of this replica. */
  readonly identity: string;
  /** Whether this replica decides the scaler `NAMESPACE/NAME`. */
  readonly isOwn: (key: string) => boolean;
  /** Returns the other replica that decides a scaler; null: unknown. */
  readonly ownerOf: (key: string) => Peer | null;
  readonly peers: () => readonly Peer[];
  /** The keys that all replicas share, the first one to seal with. Without one, no replica is asked. Never rejects. */
  readonly keys: () => Promise<readonly Buffer[]>;
}
