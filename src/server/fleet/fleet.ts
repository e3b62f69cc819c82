/** Another replica that decides some of the scalers. */
export interface Peer {
  readonly identity: string;
  /** The URL of its HTTP server; null: unknown. */
  readonly address: string | null;
}

/** The replicas that divide the scalers among them. */
export interface Fleet {
  /** Whether this replica decides a scaler, by `NAMESPACE/NAME`. */
  readonly isOwn: (key: string) => boolean;
  /** The other replica that decides a scaler; null: none is known. */
  readonly ownerOf: (key: string) => Peer | null;
  /** All other replicas. */
  readonly peers: () => readonly Peer[];
}

/** Marks a request of one replica to another one, which answers for itself only. */
export const FORWARDED_HEADER = 'x-promscaler-forwarded';
