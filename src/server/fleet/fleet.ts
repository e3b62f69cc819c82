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
}

/** Header of a forwarded request, which a replica answers only for its own scalers. */
export const FORWARDED_HEADER = 'x-promscaler-forwarded';
