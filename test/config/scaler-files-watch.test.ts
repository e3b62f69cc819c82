import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type LoadedScalers, createScalerFiles } from '../../src/config/scaler-files.js';
import { ManualClock, eventually } from '../support/manual-clock.js';
import { shortScalerYaml } from '../support/scaler-yaml.js';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'scaler-files-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

function write(file: string, text: string): Promise<void> {
  return writeFile(join(directory, file), text);
}

function namesOf({ scalers }: LoadedScalers): readonly string[] {
  return scalers.map(({ name, spec }) => `${name} ${spec.maxReplicas}`);
}

describe('watch', () => {
  it('calls back after a change, by the poll of 10 s at the latest, and stops when its signal is aborted', async () => {
    await write('a.yaml', shortScalerYaml('a'));
    const clock = new ManualClock();
    const files = createScalerFiles({ paths: [directory], clock });
    const ending = new AbortController();
    await files.load();
    const seen: (readonly string[])[] = [];
    const watching = files.watch(async () => {
      seen.push(namesOf(await files.load()));
    }, ending.signal);

    await write('a.yaml', shortScalerYaml('a', 20));
    await eventually(() => {
      clock.advance(10_000);
      return seen.length > 0;
    }, 'the change');
    clock.advance(30_000);
    ending.abort();
    await watching;

    expect(seen).toEqual([['a 20']]);
  });

  it('continues after its callback throws', async () => {
    await write('a.yaml', shortScalerYaml('a'));
    const clock = new ManualClock();
    const files = createScalerFiles({ paths: [directory], clock });
    const ending = new AbortController();
    await files.load();
    let calls = 0;
    const faults: unknown[] = [];
    const fail = (): never => {
      calls += 1;
      throw new RangeError(`call ${calls}`);
    };
    const watching = files.watch(fail, ending.signal, (error) => faults.push(error));

    await write('a.yaml', shortScalerYaml('a', 20));
    await eventually(() => {
      clock.advance(10_000);
      return faults.length > 1;
    }, 'the second fault');
    ending.abort();
    await watching;

    expect(faults.slice(0, 2)).toEqual([new RangeError('call 1'), new RangeError('call 2')]);
  });

  it('stops when its signal is aborted, even during the callback', async () => {
    await write('a.yaml', shortScalerYaml('a'));
    const clock = new ManualClock();
    const files = createScalerFiles({ paths: [directory], clock });
    const ending = new AbortController();
    await files.load();
    let isCalled = false;
    const watching = files.watch(() => {
      isCalled = true;
      return new Promise(() => undefined);
    }, ending.signal);
    await write('a.yaml', shortScalerYaml('a', 20));
    await eventually(() => {
      clock.advance(10_000);
      return isCalled;
    }, 'the change');

    ending.abort();

    await expect(watching).resolves.toBeUndefined();
  });

  it('does not call back while nothing changes', async () => {
    await write('a.yaml', shortScalerYaml('a'));
    const clock = new ManualClock();
    const files = createScalerFiles({ paths: [directory], clock });
    const ending = new AbortController();
    await files.load();
    let calls = 0;
    const watching = files.watch(() => {
      calls += 1;
    }, ending.signal);

    clock.advance(60_000);
    ending.abort();
    await watching;

    expect(calls).toBe(0);
  });
});
