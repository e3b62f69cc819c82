import { classifyAnswer } from '../../../prometheus/classify-answer.js';
import { recognizePage } from '../../../prometheus/recognize-page.js';
import type { SendResult } from '../../../prometheus/send.js';
import { REQUEST_MS, type SourceInquiry } from '../inquiry.js';
import { withoutTrailingSlashes } from '../../../units/base-url.js';

/** Prefixes under which the API is found where it is not at the root: of an ingress, of Mimir, of VictoriaMetrics. */
const PREFIXES = ['/prometheus', '/prom', '/api/prom', '/select/0/prometheus', '/query'];

type Answered = Extract<SendResult, { kind: 'answered' }>;

/** What is at the address instead of a Prometheus API, and the address that is meant where it can be found. */
export async function findWrongAddress(
  inquiry: SourceInquiry,
  url: string,
  result: Answered,
): Promise<{ readonly message: string; readonly mend: string } | null> {
  const { source } = inquiry;
  const key = `prometheus.${source.name}.urls`;
  if (/HTTP request.*HTTPS (?:server|port)/i.test(result.body)) {
    const secure = url.replace(/^http:/i, 'https:');
    return { message: `${url} speaks https, not http`, mend: `${key}: ['${secure}']` };
  }
  const elsewhere = await findPrefix(inquiry, url, result);
  if (elsewhere !== null)
    return {
      message: `${url} has no Prometheus API (HTTP ${result.status}), but ${elsewhere} has`,
      mend: `${key}: ['${elsewhere}']`,
    };
  const what = recognizePage(result) ?? (await recognizeRoot(inquiry, url));
  if (what === null && result.location === null) return null;
  const where = result.location === null ? '' : `: it redirects to ${safeLocation(result.location)}`;
  const mend =
    what === 'a login page' ? LOGIN_MEND : `set ${key} to the address of the Prometheus server itself`;
  return {
    message: `${url} is ${what ?? 'no Prometheus API'}${where}`,
    mend: mend.replace('KEY', `prometheus.${source.name}`),
  };
}

const LOGIN_MEND =
  'set KEY.urls to the address of Prometheus inside the cluster (http://SERVICE.NAMESPACE:9090), before which no login stands, or give KEY.bearerTokenFile';

async function findPrefix(inquiry: SourceInquiry, url: string, result: Answered): Promise<string | null> {
  const { probe, signal } = inquiry;
  if (result.status !== 404 && result.location === null && !isHtml(result)) return null;
  const { origin } = new URL(url);
  const base = withoutTrailingSlashes(url);
  const redirected = await redirectOfRoot(inquiry, origin);
  const candidates = [
    ...(redirected === null ? [] : [`${origin}${redirected}`]),
    // A path too much: somebody pasted the address of the page, or of the API.
    ...(base === origin ? [] : [origin]),
    ...PREFIXES.map((prefix) => `${base}${prefix}`),
  ];
  const answers = await Promise.all(
    [...new Set(candidates)].map(async (candidate) => {
      const page = await probe({
        url: `${candidate}/api/v1/query`,
        parameters: { query: 'time()' },
        timeoutMs: REQUEST_MS,
        signal,
      });
      const isApi = page.kind === 'answered' && classifyAnswer(page).class === 'value';
      return isApi ? candidate : null;
    }),
  );
  return answers.find((candidate) => candidate !== null) ?? null;
}

/** A Prometheus below a prefix redirects its root there. */
async function redirectOfRoot({ probe, signal }: SourceInquiry, origin: string): Promise<string | null> {
  const root = await probe({ url: `${origin}/`, timeoutMs: REQUEST_MS, signal, accept: 'text/html' });
  if (root.kind === 'failed' || root.location === null || !URL.canParse(root.location, origin)) return null;
  const target = new URL(root.location, origin);
  if (target.origin !== origin) return null;
  const path = target.pathname.replace(/\/(?:graph|query|targets)?\/?$/, '');
  return path === '' ? null : path;
}

async function recognizeRoot({ probe, signal }: SourceInquiry, url: string): Promise<string | null> {
  const root = await probe({
    url: `${new URL(url).origin}/`,
    timeoutMs: REQUEST_MS,
    signal,
    accept: 'text/html',
  });
  return root.kind === 'failed' ? null : recognizePage(root);
}

function isHtml({ contentType, body }: Answered): boolean {
  return (contentType ?? '').includes('html') || body.trimStart().startsWith('<');
}

/** Without its query, which may hold a state or a token. */
function safeLocation(location: string): string {
  // eslint-disable-next-line no-control-regex -- control characters of a server's text must not reach a terminal
  return (location.split(/[?#]/)[0] ?? '').replace(/[\x00-\x1f\x7f]/g, '').slice(0, 200);
}
