import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { decisionSchema, snapshotSchema } from '../../src/api/decision-schemas.js';
import { decide } from '../../src/decision/decide.js';
import { decisionToJson, snapshotToJson } from '../../src/decision/result/write-json.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';

const VECTORS = join(import.meta.dirname, '../vectors');

it('each member of the snapshots and decisions of the vectors is in the schemas of the API', () => {
  const files = readdirSync(VECTORS).filter((file) => file.endsWith('.json'));
  const cases = files.flatMap(
    (file) => JSON.parse(readFileSync(join(VECTORS, file), 'utf8')) as { snapshot: unknown }[],
  );
  expect(cases.length).toBeGreaterThan(500);

  for (const { snapshot: json } of cases) {
    // Zod drops a key of this name from a record.
    if (JSON.stringify(json).includes('__proto__')) continue;
    const snapshot = parseSnapshot(json);
    const written = JSON.parse(JSON.stringify(snapshotToJson(snapshot))) as unknown;
    const decision = JSON.parse(JSON.stringify(decisionToJson(decide(snapshot)))) as unknown;

    // The schemas drop members that they do not know.
    expect(snapshotSchema.parse(written)).toEqual(written);
    expect(decisionSchema.parse(decision)).toEqual(decision);
  }
});
