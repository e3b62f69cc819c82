import { existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parseRecordLine, type RecordLine } from '../../../src/recording/record-line.js';
import { E2E_TIMEOUT_MS, waitFor } from '../../e2e/waiting.js';
import { openSmallDisk, type SmallDisk, whyNoSmallDisk } from './small-disk.js';
import { startStand, type Stand } from './stand.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const KIB = 1024;
const why = whyNoSmallDisk();
const onLinux = why === null ? describe : describe.skip;

/** Each line is read as `explain --file` reads it; an incomplete one is an error. */
function linesOf(file: string): readonly RecordLine[] {
  const text = readFileSync(file, 'utf8');
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line is incomplete');
  return text
    .split('\n')
    .slice(0, -1)
    .map((each) => {
      const line = parseRecordLine(each);
      if ('error' in line) throw new Error(`the line ${line.error}`);
      return line;
    });
}

onLinux(`a decision record on a disk that fills up${why === null ? '' : ` (skipped: ${why})`}`, () => {
  let stand: Stand;
  let disk: SmallDisk;

  beforeAll(async () => {
    [stand, disk] = await Promise.all([startStand(), openSmallDisk(256 * KIB)]);
  });
  afterAll(async () => {
    await stand.close();
    await disk.close();
  });

  it('keeps what is written, names the file, scales on, and writes what waited when there is room', async () => {
    const file = join(disk.folder, 'decisions.ndjson');
    const filler = join(disk.folder, 'filler');
    const { startReplica } = await stand.install({
      namespace: 'record',
      targets: [{ name: 'web', replicas: 2 }],
    });
    stand.source.set('web', 2);
    const service = await startReplica({ config: `record: { path: '${file}', which: all }\n` });
    const replicas = (): number => stand.simulator.describe({ namespace: 'record', name: 'web' }).replicas;
    const figure = async (name: string): Promise<number> => {
      const lines = await service.metrics(`promscaler_${name} `);
      return Number(lines.find((line) => !line.startsWith('#'))?.split(' ')[1]);
    };
    await service.listening();
    await waitFor(() => existsSync(file) && linesOf(file).length >= 2, { what: 'two recorded decisions' });

    const { bavail, bsize } = statfsSync(disk.folder);
    writeFileSync(filler, new Uint8Array(bavail * bsize));
    await waitFor(async () => (await figure('record_write_errors_total')) >= 2, { what: 'failed writes' });
    const kept = linesOf(file);
    stand.source.set('web', 4);
    await waitFor(() => replicas() === 4, { what: '4 replicas' });

    expect(kept.length).toBeGreaterThanOrEqual(2);
    expect(linesOf(file)).toEqual(kept);
    const warnings = service
      .output()
      .split('\n')
      .filter((line) => line.includes('ENOSPC'));
    expect(warnings).toEqual([expect.stringContaining(file)]);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);

    rmSync(filler);
    await waitFor(() => service.output().includes('decision record is written again'), {
      what: 'the record to resume',
    });
    const isScaleUp = ({ decision }: RecordLine): boolean => decision?.['desiredReplicas'] === 4;
    await waitFor(() => linesOf(file).some(isScaleUp), { what: 'the decision that was taken meanwhile' });

    const all = linesOf(file);
    expect(all.slice(0, kept.length)).toEqual(kept);
    const gaps = all.slice(1).map(({ at }, index) => at - (all[index]?.at ?? at));
    // A busy machine skips rounds.
    const missed = await figure('missed_rounds_total');
    expect(gaps.filter((gap) => gap > 1500).length).toBeLessThanOrEqual(missed);
    expect(await figure('record_dropped_decisions_total')).toBe(0);
    expect(await service.end()).toBe(0);
  });
});
