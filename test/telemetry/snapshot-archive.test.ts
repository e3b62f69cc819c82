import { describe, expect, it } from '@jest/globals';
import { snapshotToJson } from '../../src/decision/result/write-json.js';
import type { Snapshot } from '../../src/decision/snapshot/snapshot.js';
import { createSnapshotArchive } from '../../src/telemetry/snapshot-archive.js';
import { at } from '../support/builders.js';
import { record } from './record-builder.js';

function snapshotAt(seconds: number): Snapshot {
  const { snapshot } = record({ at: at(seconds) });
  if (snapshot === null) throw new Error('a record without snapshot');
  return snapshot;
}

describe('createSnapshotArchive', () => {
  it('returns the JSON form of a snapshot by scaler and instant', () => {
    const archive = createSnapshotArchive();

    archive.keep('shop/web', snapshotAt(0));

    expect(archive.read('shop/web', at(0))).toEqual(
      JSON.parse(JSON.stringify(snapshotToJson(snapshotAt(0)))),
    );
    expect(archive.read('shop/web', at(15))).toBeNull();
    expect(archive.read('shop/api', at(0))).toBeNull();
  });

  it('drops the oldest of all scalers first, and stays within 20,000 bytes for 10,000 snapshots', () => {
    const archive = createSnapshotArchive({ totalBytes: 20_000 });

    for (let index = 0; index < 10_000; index += 1) archive.keep(`shop/${index % 2}`, snapshotAt(15 * index));

    const kept = Array.from({ length: 10_000 }, (_, index) =>
      archive.read(`shop/${index % 2}`, at(15 * index)),
    );
    const first = kept.findIndex((json) => json !== null);
    expect(kept.slice(first)).not.toContain(null);
    expect(10_000 - first).toBeGreaterThan(10);
    expect(10_000 - first).toBeLessThan(20_000 / 360);
  });

  it('keeps the newest 2 of a scaler that can have 2, and does not affect others', () => {
    const archive = createSnapshotArchive({ perScaler: 2 });
    archive.keep('shop/api', snapshotAt(0));

    for (const seconds of [0, 15, 30]) archive.keep('shop/web', snapshotAt(seconds));

    expect([0, 15, 30].map((seconds) => archive.read('shop/web', at(seconds)) !== null)).toEqual([
      false,
      true,
      true,
    ]);
    expect(archive.read('shop/api', at(0))).not.toBeNull();
  });

  it('forgets a removed scaler, and accepts one with the same name', () => {
    const archive = createSnapshotArchive();
    archive.keep('shop/web', snapshotAt(0));

    archive.remove('shop/web');
    archive.keep('shop/web', snapshotAt(15));

    expect(archive.read('shop/web', at(0))).toBeNull();
    expect(archive.read('shop/web', at(15))).not.toBeNull();
  });
});
