import type { TlsFiles } from '../http/tls.js';

export type EventKind = 'rescale' | 'failure';

/** A receiver of notifications, with all defaults. */
export interface ReceiverConfig {
  readonly name: string;
  readonly format: 'json' | 'slack' | 'alertmanager';
  /** Exactly one of `url` and `urlFile` is set. The URL in a file is a secret. */
  readonly url: string | null;
  readonly urlFile: string | null;
  readonly bearerTokenFile: string | null;
  readonly tls: TlsFiles | null;
  readonly events: readonly EventKind[];
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly timeoutSeconds: number;
  /** Maximum number of requests, each with up to 50 events. */
  readonly maxPerMinute: number;
}
