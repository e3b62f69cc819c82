/** The request as it is sent, because a signature covers all of it. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body: string | null;
  readonly contentType: string | null;
}

export interface SignedHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** Strings that must not appear in any message. */
  readonly secrets: readonly string[];
  /** The token or keys used for the headers, to compare with newer ones. */
  readonly origin: unknown;
}

export interface SignIn {
  /** Throws a `CredentialError`, or the reason of `signal` once it is aborted. */
  readonly headersFor: (request: OutgoingRequest, signal: AbortSignal) => Promise<SignedHeaders>;
  /** Returns whether a request that received this status should be retried with a new token. */
  readonly renew: (status: number, signed: SignedHeaders) => boolean;
}
