import type { PrometheusClient } from '../client/client.js';
import type { SourceConfig } from '../data-source/source-config.js';

export interface Recognition {
  /**
   * Probes the server in every round until it answers. Resolves when the queries of the round may be sent. Null: they
   * may be sent now, because only the first round waits.
   */
  readonly begin: (options: {
    readonly seconds: number;
    readonly signal: AbortSignal;
  }) => Promise<void> | null;
  readonly config: () => SourceConfig;
}

export function createRecognition(parts: {
  readonly config: SourceConfig;
  readonly client: PrometheusClient;
  /** Called once if the server is not what the config assumes. */
  readonly onRecognized: (config: SourceConfig) => void;
  /** Called with an internal error. */
  readonly onFault: (error: unknown) => void;
}): Recognition {
  const { config, client, onRecognized, onFault } = parts;
  let isSettled = config.ifVictoriaMetrics === null;
  let isFirst = true;
  let isReported = false;

  const fitting = (): SourceConfig => {
    const found = client.fittingConfig();
    if (found !== config && !isReported) {
      isReported = true;
      onRecognized(found);
    }
    return found;
  };

  return {
    begin: ({ seconds, signal }) => {
      if (isSettled) return null;
      const asking = client
        .recognize({ timeoutMs: seconds * 1000, signal })
        .then((isAnswered) => {
          isSettled ||= isAnswered;
          fitting();
        })
        .catch(onFault);
      if (!isFirst) return null;
      isFirst = false;
      return asking;
    },
    config: fitting,
  };
}
