import { engineOfBuild } from '../../prometheus/client/engine.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { REQUEST_MS, type SourceContext, sourceSubject } from './context.js';
import { withoutTrailingSlashes } from '../../units/base-url.js';

/** Compares the configured flavor with the build information of the server, if it has any. */
export async function judgeFlavor(context: SourceContext): Promise<readonly CheckResult[]> {
  const { source } = context;
  const results = await Promise.all(source.urls.map((url) => checkUrl(context, url)));
  return results.filter((found) => found !== null);
}

async function checkUrl({ source, probe, signal }: SourceContext, url: string): Promise<CheckResult | null> {
  const make = resultsOf('prometheus', sourceSubject(source));
  const page = `${withoutTrailingSlashes(url)}/api/v1/status/buildinfo`;
  const engine = engineOfBuild(await probe({ url: page, timeoutMs: REQUEST_MS, signal }));
  const key = `prometheus.${source.name}.flavor`;
  const line = `${key}: victoriametrics`;
  if (engine === 'victoriametrics' && source.ifVictoriaMetrics !== null)
    return make.warning(
      `${url} is VictoriaMetrics and ${key} is not set: it is only detected after the first response`,
      line,
    );
  if (engine === 'victoriametrics' && source.flavor !== 'victoriametrics')
    return make.failed(`${url} is VictoriaMetrics and ${key} is ${source.flavor}: ${WITHOUT_FLAVOR}`, line);
  if (engine === 'other' && source.flavor === 'victoriametrics')
    return make.failed(
      `${url} is not VictoriaMetrics, but ${key} is victoriametrics: its cpu query omits containers that restarted`,
      `${key}: prometheus, thanos or mimir`,
    );
  return null;
}

const WITHOUT_FLAVOR =
  'samples are about 30 s old, responses of a cluster may be incomplete, and ' +
  'a container that restarted is counted twice for the window of the query';
