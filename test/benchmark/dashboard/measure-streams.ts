import type { IncomingMessage } from 'node:http';
import { milliseconds } from './figure.js';
import type { Figure } from './figure.js';
import { open } from './server-client.js';
import type { BenchServer } from './server-client.js';

const STREAMS = 100;
const DECISIONS = 300;
const EVERY_MS = 20;
const SILENT = 50;
const FLOOD_MB = 40;

/** What a decision costs in addition while many streams are open: CPU time of the whole process. */
export async function measureStreams(server: BenchServer): Promise<readonly Figure[]> {
  const cost = async (): Promise<number> => {
    await server.order({ type: 'reset' });
    await server.order({ type: 'decisions', count: DECISIONS, everyMs: EVERY_MS });
    return (await server.figures()).cpuMs / DECISIONS;
  };
  const alone = await cost();
  const streams = await openStreams(server, STREAMS);
  let bytes = 0;
  for (const stream of streams) stream.on('data', (piece: Buffer) => (bytes += piece.length));
  const together = await cost();
  for (const stream of streams) stream.destroy();
  if (bytes < STREAMS * DECISIONS * 100) throw new Error(`the streams have only got ${bytes} bytes`);
  return [
    {
      what: `CPU of a decision for ${STREAMS} event streams`,
      figure: milliseconds(together - alone),
      block: '',
      promised: 'below 1 ms',
    },
  ];
}

/** Streams whose clients never read. */
export async function measureSilentStreams(server: BenchServer): Promise<readonly Figure[]> {
  const streams = await openStreams(server, SILENT);
  await server.order({ type: 'reset' });
  const before = await server.figures();
  await server.order({ type: 'flood', megabytes: FLOOD_MB });
  const after = await server.figures();
  for (const stream of streams) stream.destroy();
  const grown = (after.residentBytes - before.residentBytes) / 1e6;
  return [
    {
      what: `${SILENT} streams that never read, after ${FLOOD_MB} MB of events: still open`,
      figure: `${after.streams} of ${before.streams}`,
      block: '',
      promised: 'none',
    },
    { what: '  RSS more than before', figure: `${grown.toFixed(0)} MB`, block: '', promised: 'below 64 MB' },
  ];
}

async function openStreams(server: BenchServer, count: number): Promise<readonly IncomingMessage[]> {
  const all = Array.from({ length: count }, () => open(`${server.url}/api/v1/events`, {}));
  const streams = await Promise.all(all);
  for (const stream of streams) stream.on('error', () => undefined);
  return streams;
}
