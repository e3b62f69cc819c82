import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { WIDE_METRICS } from './fleet.js';

/** Answers range queries for the metrics of the wide scaler with a number per step. */
export function createHistorySource(): Server {
  return createServer((request, response) => {
    void readBody(request).then((body) => {
      const parameters = new URLSearchParams(body);
      const [start, end, step] = ['start', 'end', 'step'].map((name) => Number(parameters.get(name)));
      const query = parameters.get('query') ?? '';
      const times: number[] = [];
      for (let at = start ?? 0; at <= (end ?? 0); at += step ?? 1) times.push(at);
      response.setHeader('Content-Type', 'application/json');
      response.end(answerOf(query, times));
    });
  });
}

function answerOf(query: string, times: readonly number[]): string {
  const result = namesIn(query).map((metric, index) => ({
    metric: { metric, type: 'External' },
    values: times.map((at) => [at, String((at % 977) / 3 + index)]),
  }));
  return JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });
}

/** Counts have no metric; a query may select some metrics by a regular expression. */
function namesIn(query: string): readonly string[] {
  if (!query.includes('promscaler_metric_')) return [];
  const names = Array.from({ length: WIDE_METRICS }, (_, index) => `m${index}`);
  const selected = /metric=~"([^"]*)"/.exec(query)?.[1];
  return selected === undefined ? names : names.filter((name) => selected.split('|').includes(name));
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body === '' ? ((request.url ?? '').split('?')[1] ?? '') : body;
}
