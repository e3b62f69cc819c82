import { classifyAnswer } from '../../../prometheus/classify-answer.js';
import type { SendResult } from '../../../prometheus/send.js';
import { type Finding, findingsOf } from '../finding.js';
import { REQUEST_MS, type SourceInquiry, sourceSubject } from '../inquiry.js';
import { findWrongAddress } from './wrong-address.js';
import { whyNotConnected } from './why-not-connected.js';
import { withoutTrailingSlashes } from '../../../units/base-url.js';

const QUERY_PATH = '/api/v1/query';

/** Whether each url of a data source is a server of the Prometheus API, and otherwise what is there instead. */
export async function checkPrometheus(inquiry: SourceInquiry): Promise<readonly Finding[]> {
  const { source } = inquiry;
  return Promise.all(source.urls.map((url) => checkUrl(inquiry, url)));
}

async function checkUrl(inquiry: SourceInquiry, url: string): Promise<Finding> {
  const { source, signal, probe } = inquiry;
  const make = findingsOf('prometheus', sourceSubject(source));
  const base = withoutTrailingSlashes(url);
  const result = await probe({
    url: `${base}${QUERY_PATH}`,
    parameters: { query: 'time()' },
    timeoutMs: REQUEST_MS,
    signal,
  });
  if (result.kind === 'failed') {
    const { message, mend } = whyNotConnected(url, result, source);
    return make.failed(message, mend);
  }
  const answer = classifyAnswer(result);
  if (answer.class === 'value') return make.ok(`${url} answers`);
  if (answer.class === 'partial') {
    const mend =
      'look at the servers behind it (stores, shards): one is down or cut off, and scale-down waits for it';
    return make.warning(`${url} answers, but says that data may be missing: ${answer.why}`, mend);
  }
  const { message, mend } = await whyRefused(inquiry, url, { result, words: answer.message });
  return make.failed(message, mend);
}

interface Refused {
  readonly result: Extract<SendResult, { kind: 'answered' }>;
  readonly words: string;
}

async function whyRefused(
  inquiry: SourceInquiry,
  url: string,
  { result, words }: Refused,
): Promise<{ readonly message: string; readonly mend: string }> {
  const { source } = inquiry;
  const key = `prometheus.${source.name}`;
  if (/\b(?:no org id|tenant|x-scope-orgid)\b/i.test(result.body.slice(0, 1000)) && result.status >= 400)
    return {
      message: `${url} wants to know the tenant (${words})`,
      mend: `set ${key}.headers: { X-Scope-OrgID: TENANT } in the service config`,
    };
  if (result.status === 401 || result.status === 403) {
    const has = source.bearerTokenFile ?? source.basicAuth ?? source.signIn ?? null;
    const how = has === null ? 'no credentials are configured' : 'the configured credentials are refused';
    const mend =
      has === null
        ? `set ${key}.bearerTokenFile, ${key}.basicAuth or ${key}.headers in the service config`
        : source.signIn !== null
          ? `look at ${key}.${source.signIn.way}: may this identity ask this server?`
          : `look at the file of ${key}.${source.bearerTokenFile === null ? 'basicAuth.passwordFile' : 'bearerTokenFile'}: is it of this server, and not expired?`;
    return { message: `${url} wants to know who asks (HTTP ${result.status}), and ${how}`, mend };
  }
  const wrong = await findWrongAddress(inquiry, url, result);
  if (wrong !== null) return wrong;
  if (result.status >= 500)
    return {
      message: `${url} answers with an error (${words})`,
      mend: `look at the log of that server, and at the proxy before it; curl '${url}/-/ready' says whether it is up`,
    };
  return {
    message: `${url} is no server of the Prometheus API (${words})`,
    mend: `set ${key}.urls to the address where ${QUERY_PATH} is, without that path`,
  };
}
