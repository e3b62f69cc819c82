import { createPrometheusClient, type PrometheusClient } from '../../prometheus/client/client.js';
import { createProbe } from '../../prometheus/client/request.js';
import { learnWindow } from '../../prometheus/queries/learned-windows.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { type DoctorContext, REQUEST_MS, type SourceContext } from './context.js';
import { withoutTrailingSlashes } from '../../http/http-client.js';

interface OpenedSource extends SourceContext {
  /** Detects the flavor unless it is configured, learns the window, and returns a context with the resulting config. */
  readonly recognized: () => Promise<SourceContext>;
}

/** Opens a data source without a request. */
export function openDataSource(context: DoctorContext, source: SourceConfig): OpenedSource {
  const { clock, signal, env } = context;
  const client = createPrometheusClient(source, clock, env);
  const options = { timeoutMs: REQUEST_MS, signal };
  const send = createProbe(source, clock, env);
  const opened: SourceContext = {
    ...context,
    source,
    runQuery: (query) => client.query(query, options),
    startTime: () => client.startTime(options),
    probe: (url, path, request) =>
      send({ url: `${withoutTrailingSlashes(url)}${path}`, ...options, ...request }),
  };
  const recognized = async (): Promise<SourceContext> => {
    await client.recognize(options);
    return { ...opened, source: await learnWindow(client.fittingConfig(), context.scalers, opened.runQuery) };
  };
  return { ...opened, recognized };
}

/** Returns a client for a source whose flavor is known, so that it is not detected again. */
export function createRecognizedClient(
  source: SourceConfig,
  { clock, env }: Pick<DoctorContext, 'clock' | 'env'>,
): PrometheusClient {
  return { ...createPrometheusClient(source, clock, env), recognize: () => Promise.resolve(true) };
}
