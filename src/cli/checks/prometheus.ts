import { classifyAnswer } from '../../prometheus/answers/classify.js';
import type { SendResult } from '../../prometheus/client/request.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { REQUEST_MS, type SourceContext, sourceSubject } from './context.js';
import { findWrongAddress } from './wrong-address.js';
import { explainConnectionFailure } from './connection-failure.js';
import { withoutTrailingSlashes } from '../../units/base-url.js';

const QUERY_PATH = '/api/v1/query';

/** Checks that each URL serves the Prometheus API, and otherwise reports what it serves. */
export async function checkPrometheus(context: SourceContext): Promise<readonly CheckResult[]> {
  const { source } = context;
  return Promise.all(source.urls.map((url) => checkUrl(context, url)));
}

/**
 * Warns about a data source that neither reports since when it stores data nor has `up`. The service needs one of them
 * to detect lost data.
 */
export async function checkHistory({
  source,
  runQuery,
  startTime,
}: SourceContext): Promise<readonly CheckResult[]> {
  if ((await startTime()) !== null) return [];
  const answer = await runQuery('count(up)');
  const isAnswered = answer.class === 'missing' || answer.class === 'value';
  if (!isAnswered || (answer.class === 'value' && answer.series.length > 0)) return [];
  const make = resultsOf('prometheus', sourceSubject(source));
  return [
    make.warning(
      'the data source has no series up and reports no start time: if it loses data, that is not noticed, and values that are too low can scale down',
      'keep the series up: in write_relabel_configs of remote_write, in match[] of a federation, in the stores of a querier',
    ),
  ];
}

async function checkUrl(context: SourceContext, url: string): Promise<CheckResult> {
  const { source, signal, probe } = context;
  const make = resultsOf('prometheus', sourceSubject(source));
  const base = withoutTrailingSlashes(url);
  const result = await probe({
    url: `${base}${QUERY_PATH}`,
    parameters: { query: 'time()' },
    timeoutMs: REQUEST_MS,
    signal,
  });
  if (result.kind === 'failed') {
    const { message, fix } = explainConnectionFailure(url, result, source);
    return make.failed(message, fix);
  }
  const answer = classifyAnswer(result);
  if (answer.class === 'value') return make.ok(`${url} answers`);
  if (answer.class === 'partial') {
    const fix =
      'check the servers behind it (stores, shards): one is unreachable, and promscaler scales nothing down until it is available';
    return make.warning(`${url} answers with incomplete data: ${answer.why}`, fix);
  }
  const { message, fix } = await explainErrorResponse(context, url, { result, error: answer.message });
  return make.failed(message, fix);
}

interface ErrorResponse {
  readonly result: Extract<SendResult, { kind: 'answered' }>;
  readonly error: string;
}

async function explainErrorResponse(
  context: SourceContext,
  url: string,
  { result, error }: ErrorResponse,
): Promise<{ readonly message: string; readonly fix: string }> {
  const { source } = context;
  const key = `prometheus.${source.name}`;
  if (/\b(?:no org id|tenant|x-scope-orgid)\b/i.test(result.body.slice(0, 1000)) && result.status >= 400)
    return {
      message: `${url} requires a tenant (${error})`,
      fix: `set ${key}.headers: { X-Scope-OrgID: TENANT } in the service config`,
    };
  if (result.status === 401 || result.status === 403) {
    const credentials = source.bearerTokenFile ?? source.basicAuth ?? source.signIn ?? null;
    const fix =
      credentials === null
        ? `set ${key}.bearerTokenFile, ${key}.basicAuth or ${key}.headers in the service config`
        : source.signIn !== null
          ? `check ${key}.${source.signIn.way}: the identity needs permission to query this server`
          : `check the file of ${key}.${source.bearerTokenFile === null ? 'basicAuth.passwordFile' : 'bearerTokenFile'}: it must contain credentials for this server that have not expired`;
    const message =
      credentials === null
        ? `${url} requires credentials (HTTP ${result.status}), and none are configured`
        : `${url} rejected the configured credentials (HTTP ${result.status})`;
    return { message, fix };
  }
  const wrong = await findWrongAddress(context, url, result);
  if (wrong !== null) return wrong;
  if (result.status >= 500)
    return {
      message: `${url} answers with an error (${error})`,
      fix: `check the log of the server and of any proxy in front of it; curl '${url}/-/ready' shows whether the server is up`,
    };
  return {
    message: `${url} does not serve the Prometheus API (${error})`,
    fix: `set ${key}.urls to the base URL of the server, without ${QUERY_PATH}`,
  };
}
