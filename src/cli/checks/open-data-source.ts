import {
  createPrometheusClient,
  type PrometheusClient,
  type PrometheusServer,
} from '../../prometheus/client/client.js';
import { readAnswers } from '../../prometheus/metric-source.js';
import { createSend, type Send } from '../../prometheus/client/request.js';
import { learnWindow } from '../../prometheus/queries/learned-windows.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import type { Clock } from '../../units/clock.js';
import { failed } from '../../units/failure.js';
import { type DoctorContext, REQUEST_MS, type SourceContext, usedSources } from './context.js';
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

/**
 * Returns the answers of all scalers, in the order of their metrics. `answering`: the data sources that have answered.
 * Other data sources are not queried again.
 */
export function readAllAnswers(
  { config, scalers, clock, env, signal }: DoctorContext,
  answering: ReadonlyMap<string, SourceContext>,
): ReturnType<typeof readAnswers> {
  const createClient = (source: SourceConfig): PrometheusClient => {
    // The flavor is known, so it is not detected again.
    const client = { ...createPrometheusClient(source, clock, env), recognize: () => Promise.resolve(true) };
    return answering.has(source.name) ? client : { ...client, ...UNREACHABLE, servers: [UNREACHABLE] };
  };
  const sources = usedSources(config, answering);
  return readAnswers({ sources, clock, onQuery: () => undefined, createClient }, scalers, signal);
}

const UNREACHABLE: PrometheusServer = {
  query: () => Promise.resolve(failed('connection', 'the data source does not answer')),
  startTime: () => Promise.resolve(null),
};

/**
 * Creates a function that requests any page, to recognize the kind of server. Credentials are never sent to a host that
 * is not in the config of the data source: such a request fails.
 */
export function createProbe(config: SourceConfig, clock: Clock, env: DoctorContext['env'] = {}): Send {
  const send = createSend(config, clock, env);
  const hosts = new Set(config.urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).host));
  return async (request) =>
    URL.canParse(request.url) && hosts.has(new URL(request.url).host)
      ? send(request)
      : failed('connection', 'the URL has a host that is not a host of this data source');
}
