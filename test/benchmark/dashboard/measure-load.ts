import { milliseconds } from './figure.js';
import type { Figure } from './figure.js';
import { get } from './server-client.js';
import type { BenchServer } from './server-client.js';

const PATHS = [
  '/api/v1/overview',
  '/api/v1/scalers',
  '/api/v1/service',
  '/api/v1/scalers/team-07/web-00007',
  '/api/v1/scalers/team-07/web-00007/history',
  '/api/v1/scalers/shop/wide/history?source=prometheus',
  '/metrics',
];
const CLIENTS = 2;
const ROUNDS = 3;
const PAUSE_MS = 1000;

/** Several clients read each page again and again, while all scalers decide in rounds. */
export async function measureLoad(server: BenchServer): Promise<readonly Figure[]> {
  const alone = await longestBlock(server);
  let isOver = false;
  let pages = 0;
  const readers = Array.from({ length: CLIENTS }, () => PATHS)
    .flat()
    .map(async (path) => {
      while (!isOver) {
        await get(`${server.url}${path}`);
        pages += 1;
      }
    });
  const together = await longestBlock(server);
  isOver = true;
  await Promise.all(readers);
  return [
    {
      what: `longest delay of a timer in ${ROUNDS} rounds`,
      figure: milliseconds(alone),
      block: '',
      promised: '',
    },
    {
      what: `  while ${CLIENTS} clients read each page in parallel (${pages} pages)`,
      figure: milliseconds(together),
      block: '',
      promised: 'at most 100 ms more',
    },
  ];
}

async function longestBlock(server: BenchServer): Promise<number> {
  await server.order({ type: 'reset' });
  for (let round = 0; round < ROUNDS; round += 1) {
    await server.order({ type: 'round' });
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return (await server.figures()).longestBlockMs;
}
