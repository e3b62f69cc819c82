import { readDashboards, substitute } from '../support/dashboards.js';

interface RangeAnswer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly result: readonly { readonly values: readonly (readonly [number, string])[] }[] };
}

/**
 * Sends the queries of every panel and every variable of the dashboards for the time since `startSeconds`, as Grafana
 * does, and returns those that find no series with a number. A query about one scaler counts as found with any of
 * `scalers`.
 */
export async function emptyQueries(of: {
  readonly prometheusUrl: string;
  readonly startSeconds: number;
  readonly namespace: string;
  readonly scalers: readonly string[];
}): Promise<readonly string[]> {
  const empty: string[] = [];
  for (const { file, title, expr } of allQueries()) {
    let isFound = false;
    for (const scaler of of.scalers) {
      const variables = { job: '.*', namespace: of.namespace, scaler, metric: '.*', __rate_interval: '20s' };
      isFound ||= await findsNumbers(of, substitute(expr, variables));
    }
    if (!isFound) empty.push(`${file}, ${title}: ${expr}`);
  }
  return empty;
}

function allQueries(): readonly { readonly file: string; readonly title: string; readonly expr: string }[] {
  return readDashboards().flatMap(({ file, panels, annotations, templating }) => [
    ...annotations.list.map(({ name, expr }) => ({ file, title: `annotation ${name}`, expr })),
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ file, title, expr }))),
    ...templating.list.flatMap(({ name, definition }) => {
      const selector = /^label_values\((.*), \w+\)$/.exec(definition ?? '')?.[1];
      return selector === undefined ? [] : [{ file, title: `variable ${name}`, expr: selector }];
    }),
  ]);
}

async function findsNumbers(
  { prometheusUrl, startSeconds }: { readonly prometheusUrl: string; readonly startSeconds: number },
  query: string,
): Promise<boolean> {
  const range = { query, start: String(startSeconds), end: String(Date.now() / 1000), step: '1' };
  const response = await fetch(`${prometheusUrl}/api/v1/query_range`, {
    method: 'POST',
    body: new URLSearchParams(range),
  });
  const answer = (await response.json()) as RangeAnswer;
  if (answer.data === undefined) throw new Error(`${query}: ${answer.error ?? answer.status}`);
  return answer.data.result.some(({ values }) => values.some(([, value]) => value !== 'NaN'));
}
