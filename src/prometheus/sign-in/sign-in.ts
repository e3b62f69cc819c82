/** Variables of the environment that a platform sets in the pod. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A request as it goes out: a signature covers all of it. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  /** With its query. */
  readonly url: string;
  readonly body: string | null;
  readonly contentType: string | null;
}

export interface SignedHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** What must not appear in any message. */
  readonly secrets: readonly string[];
  /** The token or the keys they were made with, to be told from newer ones. */
  readonly origin: unknown;
}

/** One way of signing in to a data source. */
export interface SignIn {
  /** Throws a `CredentialError`, or the reason of `signal` once that is aborted. */
  readonly headersFor: (request: OutgoingRequest, signal: AbortSignal) => Promise<SignedHeaders>;
  /** Whether a request that was answered with this status is worth a second attempt: with a newer token. */
  readonly renew: (status: number, signed: SignedHeaders) => boolean;
}
