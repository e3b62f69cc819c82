import { classifyAnswer } from '../../prometheus/answers/classify.js';
import { recognizePage } from '../../prometheus/recognize-page.js';
import type { SendResult } from '../../prometheus/client/request.js';
import { REQUEST_MS, type SourceContext } from './context.js';
import { withoutTrailingSlashes } from '../../units/base-url.js';

/** Common path prefixes of the API: an Ingress, Mimir, VictoriaMetrics. */
const PREFIXES = ['/prometheus', '/prom', '/api/prom', '/select/0/prometheus', '/query'];

type Answered = Extract<SendResult, { kind: 'answered' }>;

/** Detects what the address serves instead of the Prometheus API, and tries to find the correct address. */
export async function findWrongAddress(
  context: SourceContext,
  url: string,
  result: Answered,
): Promise<{ readonly message: string; readonly fix: string } | null> {
  const { source } = context;
  const key = `prometheus.${source.name}.urls`;
  if (/HTTP request.*HTTPS (?:server|port)/i.test(result.body)) {
    const secure = url.replace(/^http:/i, 'https:');
    return { message: `${url} serves https, not http`, fix: `${key}: ['${secure}']` };
  }
  const elsewhere = await findPrefix(context, url, result);
  if (elsewhere !== null)
    return {
      message: `${url} does not serve the Prometheus API (HTTP ${result.status}), but ${elsewhere} does`,
      fix: `${key}: ['${elsewhere}']`,
    };
  const what = recognizePage(result) ?? (await recognizeRoot(context, url));
  if (what === null && result.location === null) return null;
  const where = result.location === null ? '' : `: it redirects to ${safeLocation(result.location)}`;
  const fix =
    what === 'a login page' ? LOGIN_FIX : `set ${key} to the address of the Prometheus server itself`;
  return {
    message: `${url} is ${what ?? 'not a Prometheus API'}${where}`,
    fix: fix.replace('KEY', `prometheus.${source.name}`),
  };
}

const LOGIN_FIX =
  'set KEY.urls to the address of Prometheus inside the cluster, which needs no login (http://SERVICE.NAMESPACE:9090), or set KEY.bearerTokenFile';

async function findPrefix(context: SourceContext, url: string, result: Answered): Promise<string | null> {
  const { probe, signal } = context;
  if (result.status !== 404 && result.location === null && !isHtml(result)) return null;
  const { origin } = new URL(url);
  const base = withoutTrailingSlashes(url);
  const redirected = await redirectOfRoot(context, origin);
  const candidates = [
    ...(redirected === null ? [] : [`${origin}${redirected}`]),
    // The URL may be that of the UI or of an API path instead of the base URL.
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

/** Returns the prefix to which Prometheus redirects `/` with --web.route-prefix. */
async function redirectOfRoot({ probe, signal }: SourceContext, origin: string): Promise<string | null> {
  const root = await probe({ url: `${origin}/`, timeoutMs: REQUEST_MS, signal, accept: 'text/html' });
  if (root.kind === 'failed' || root.location === null || !URL.canParse(root.location, origin)) return null;
  const target = new URL(root.location, origin);
  if (target.origin !== origin) return null;
  const path = target.pathname.replace(/\/(?:graph|query|targets)?\/?$/, '');
  return path === '' ? null : path;
}

async function recognizeRoot({ probe, signal }: SourceContext, url: string): Promise<string | null> {
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

/** Removes query string and fragment, which may contain a token. */
function safeLocation(location: string): string {
  // eslint-disable-next-line no-control-regex -- control characters of a server's text must not reach a terminal
  return (location.split(/[?#]/)[0] ?? '').replace(/[\x00-\x1f\x7f]/g, '').slice(0, 200);
}
