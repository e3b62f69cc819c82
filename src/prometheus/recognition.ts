import type { PrometheusClient } from './client.js';
import type { AskOptions } from './query-queue.js';
import type { SourceConfig } from './source-config.js';

/** Finds out which server a data source is, where its config does not say. */
export interface Recognition {
  /**
   * Asks the server what it is until it answers. Resolves when a query may be sent: a server that does not answer is not
   * waited for twice. Null: there is nothing to wait for.
   */
  readonly begin: (options: AskOptions) => Promise<void> | null;
  /** The config that fits the server, as far as it is known. */
  readonly config: () => SourceConfig;
}

export function createRecognition(parts: {
  readonly config: SourceConfig;
  readonly client: PrometheusClient;
  /** Called once, when the server is another one than the config takes it for. */
  readonly onRecognized: (config: SourceConfig) => void;
}): Recognition {
  const { config, client, onRecognized } = parts;
  const { recognize } = client;
  let isSettled = config.ifVictoriaMetrics === null || recognize === undefined;
  let isFirst = true;
  let isTold = false;

  const fitting = (): SourceConfig => {
    const found = client.fittingConfig?.() ?? config;
    if (found !== config && !isTold) {
      isTold = true;
      onRecognized(found);
    }
    return found;
  };

  return {
    begin: ({ seconds, signal }) => {
      if (isSettled || recognize === undefined) return null;
      const asking = recognize({ timeoutMs: seconds * 1000, signal }).then((isAnswered) => {
        isSettled ||= isAnswered;
        fitting();
      });
      if (!isFirst) return null;
      isFirst = false;
      return asking;
    },
    config: fitting,
  };
}
