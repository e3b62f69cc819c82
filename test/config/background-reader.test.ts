import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createBackgroundReader } from '../../src/config/background-reader.js';
import type { DocumentReader } from '../../src/config/document-reader.js';
import type { ReadDocument } from '../../src/scaler/read/read-scalers.js';
import { ManualClock, eventually } from '../support/manual-clock.js';
import { shortScalerYaml } from '../support/scaler-yaml.js';

/** The worker runs the built program. */
const ENTRY = pathToFileURL(resolve('dist/config/reading-worker.js'));
const MIB = 1024 * 1024;

function readerOf(options: { clock?: ManualClock; signal?: AbortSignal; entry?: URL } = {}): DocumentReader {
  const { clock = new ManualClock(), signal = new AbortController().signal, entry = ENTRY } = options;
  return createBackgroundReader({ clock, signal, entry });
}

async function read(text: string, reader = readerOf()): Promise<readonly ReadDocument[]> {
  try {
    return await reader.read({ file: 'a.yaml', content: { text } }, {});
  } finally {
    reader.close();
  }
}

function documentsOf(count: number): string {
  return Array.from({ length: count }, (_, index) => shortScalerYaml(`w${index}`)).join('---\n');
}

/** A repeated part of a document, and the first problem reported for it. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ['"', 'yaml-size'],
  ['[', 'too-deep'],
  ['{', 'too-deep'],
  [']', 'yaml-size'],
  ['[]', 'yaml-size'],
  ['- ', 'too-deep'],
  ['? ', 'too-deep'],
  ['&a ', 'yaml-size'],
  ['*a ', 'yaml-size'],
  ['!a ', 'yaml-size'],
  ['a:\n a:\n', 'yaml-size'],
  ['- [a]\n', 'yaml-size'],
  ['--- a\n', 'wrong-type'],
  ['%a\n---\n', 'yaml-syntax'],
  ['- *a\n', 'yaml-size'],
  ['\t', ''],
  ['# a\n', 'yaml-size'],
];

describe('createBackgroundReader', () => {
  const shared = readerOf();
  afterAll(() => shared.close());

  it('reads a large text with the same result as the main thread, and with frozen scalers', async () => {
    const documents = await read(documentsOf(350) + shortScalerYaml('x', 10, ', foo: 1'));

    const names = documents.map(({ scaler }) => scaler?.name ?? null);
    expect(names).toEqual([...Array.from({ length: 350 }, (_, index) => `w${index}`).slice(0, 349), null]);
    expect(Object.isFrozen(documents[0]?.scaler?.spec)).toBe(true);
    expect(documents.at(-1)?.problems.map(({ code }) => code)).toContain('duplicate-key');
  });

  it('starts a worker for 4,097 characters, not for 4,096', async () => {
    const entry = pathToFileURL('/no/such/worker.js');
    const small = shortScalerYaml('web').padEnd(4096, ' ');

    expect((await read(small, readerOf({ entry })))[0]?.scaler?.name).toBe('web');
    expect((await read(`${small} `, readerOf({ entry })))[0]?.problems).toMatchObject([
      { code: 'internal-error', file: 'a.yaml' },
    ]);
  });

  it.each(HOSTILE)('rejects 64 KiB of %j', async (part, code) => {
    const text = part.repeat(Math.floor(65_536 / part.length));

    const documents = await shared.read({ file: 'a.yaml', content: { text } }, {});

    expect(documents[0]?.problems[0]?.code ?? '').toBe(code);
  });

  it('does not block the event loop while it reads 1 MiB of quotes', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);

    const documents = await read('"'.repeat(MIB));
    clearInterval(timer);

    expect(documents.flatMap(({ problems }) => problems)).toHaveLength(1);
    expect(turns).toBeGreaterThan(5);
  });

  it('reads a large object of the cluster in the worker, too', async () => {
    const values = Array.from({ length: 900 }, (_, index) => `value-${index}-${'x'.repeat(10)}`);
    const requirement = { key: 'a', operator: 'In', values };
    const metric = { name: 'm', selector: { matchExpressions: [requirement] } };
    const spec = {
      scaleTargetRef: { name: 'web' },
      maxReplicas: 10,
      metrics: [{ external: { metric, query: 'x', target: { value: 1 } } }],
    };
    const object = { namespace: 'shop', name: 'web', specText: JSON.stringify(spec) };
    const reader = readerOf();

    const [document] = await reader.read({ file: 'o', content: { object } }, {});
    reader.close();

    expect(object.specText.length).toBeGreaterThan(4096);
    expect(document?.scaler?.document.spec).toEqual(spec);
  });

  it('stops reading a file after 60 s, and reads the next one', async () => {
    const clock = new ManualClock();
    const reader = readerOf({ clock });

    const first = reader.read({ file: 'a.yaml', content: { text: '- [a]\n---\n'.repeat(100_000) } }, {});
    await eventually(() => clock.pending === 1);
    clock.advance(60_000);

    expect((await first)[0]?.problems).toMatchObject([
      {
        code: 'yaml-size',
        message:
          'reading a.yaml: reading takes longer than 60 s; the documents that were read before stay in effect',
      },
    ]);
    expect(await read(documentsOf(200), reader)).toHaveLength(200);
    expect(clock.pending).toBe(0);
  });

  it('stops reading at once when the service stops', async () => {
    const stop = new AbortController();
    const reading = read('- [a]\n---\n'.repeat(100_000), readerOf({ signal: stop.signal }));

    stop.abort();

    expect((await reading)[0]?.problems).toMatchObject([{ code: 'yaml-size' }]);
  });
});
