import { gunzipSync } from 'node:zlib';
import { milliseconds } from './figure.js';
import type { Figure } from './figure.js';
import { get } from './server-client.js';
import type { BenchServer, Got } from './server-client.js';

const ALL = '/api/v1/overview';
const FAST = 'below 200 ms';
const OF_ONE = '/api/v1/scalers/team-07/web-00007';
const REST_MS = 700;
/** Of the 60 that each of many scalers keeps, the older ones are five minutes apart. */
const LEAST_POINTS = 37;

/** Measures the pages one by one, while nothing else happens. */
export async function measurePages(server: BenchServer, scalers: number): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const measure = async (what: string, path: string, promised = ''): Promise<Got> => {
    // The server rests after work, and has nothing to do before the next page.
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    await server.order({ type: 'reset' });
    const got = await get(`${server.url}${path}`);
    const { longestBlockMs, cpuMs } = await server.figures();
    const size = `${(got.bytes / 1000).toFixed(got.bytes < 10_000 ? 1 : 0)} kB`;
    const block = `${milliseconds(longestBlockMs)}, CPU ${milliseconds(cpuMs)}, ${size}`;
    figures.push({ what, figure: milliseconds(got.ms), block, promised });
    return got;
  };
  const first = await measure('overview, all rows, the first time', ALL, FAST);
  const { revision, rows } = overviewIn(first);
  if (rows !== scalers) throw new Error(`the overview has ${rows} rows instead of ${scalers}`);
  await measure('overview, all rows, again', ALL, FAST);
  await measure('overview, changes since, none', `${ALL}?since=${revision}`, FAST);
  await server.order({ type: 'round' });
  await measure('overview, changes since, after a round', `${ALL}?since=${revision}`, FAST);
  await server.order({ type: 'round' });
  await measure('overview, all rows, after a round', ALL, FAST);
  await measure('scalers, a page of 500, the first time', '/api/v1/scalers', FAST);
  await measure('scalers, a page of 500, again', '/api/v1/scalers', FAST);
  await server.order({ type: 'round' });
  await measure('scalers, a page of 500, after a round', '/api/v1/scalers', FAST);
  await measure('service', '/api/v1/service', FAST);
  await measure('service, again', '/api/v1/service', FAST);
  await measure('one scaler', OF_ONE);
  await measure('its decisions', `${OF_ONE}/decisions`);
  const history = await measure('its history', `${OF_ONE}/history`);
  if (pointsIn(history) < LEAST_POINTS) throw new Error(`the history has ${pointsIn(history)} points`);
  await measure('history of 100 metrics over days', '/api/v1/scalers/shop/wide/history?source=prometheus');
  await measure('/metrics', '/metrics');
  return figures;
}

function overviewIn({ body }: Got): { readonly revision: string; readonly rows: number } {
  const { revision, rows } = JSON.parse(textOf(body)) as { revision: string; rows: readonly unknown[] };
  return { revision, rows: rows.length };
}

function pointsIn({ body }: Got): number {
  return (JSON.parse(textOf(body)) as { at: readonly unknown[] }).at.length;
}

function textOf(body: Buffer): string {
  return (body[0] === 0x1f ? gunzipSync(body) : body).toString();
}
