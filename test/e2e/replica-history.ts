import { request } from 'node:http';

/** One change of `spec.replicas`. */
export interface ReplicaChange {
  /** Monotonic seconds; only differences are meaningful. */
  readonly seconds: number;
  readonly replicas: number;
}

/** Records the counts of a Deployment from its watch, for as long as `signal` is not aborted. */
export class ReplicaHistory {
  readonly #changes: ReplicaChange[] = [];
  #present: number | null = null;

  /** `path` is that of the watch, below the socket of `kubectl proxy`. */
  constructor(socketPath: string, path: string, signal: AbortSignal) {
    const open = (): void => {
      if (signal.aborted) return;
      const again = (): void => void setTimeout(open, 200).unref();
      const sent = request({ socketPath, path, headers: { host: 'localhost' }, signal });
      sent.once('error', again);
      sent.once('response', (response) => {
        let rest = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          const lines = (rest + chunk).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) this.#note(line);
        });
        response.once('error', () => undefined);
        response.once('close', again);
      });
      sent.end();
    };
    open();
  }

  /** The changes since the start. */
  changes(): readonly ReplicaChange[] {
    return [...this.#changes];
  }

  #note(line: string): void {
    const event = JSON.parse(line) as {
      readonly object?: { readonly spec?: { readonly replicas?: unknown } };
    };
    const replicas = event.object?.spec?.replicas;
    if (typeof replicas !== 'number' || replicas === this.#present) return;
    // The first one is the initial count.
    if (this.#present !== null) this.#changes.push({ seconds: performance.now() / 1000, replicas });
    this.#present = replicas;
  }
}
