import { describe, expect, it } from '@jest/globals';
import { type JsonObject, numberAt, stringAt } from '../../../src/simulator/kinds/json.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { type Answer, send, startCluster } from '../cluster.js';
import { FLEETS, fleet, installFleets } from './fleet.js';

const HOME = `${FLEETS}/home`;

async function startWithFleets(spec: JsonObject | null = { size: 2 }): Promise<Simulator> {
  const { simulator } = await startCluster();
  await installFleets(simulator);
  if (spec !== null) await send(simulator, 'POST', FLEETS, { body: fleet(spec) });
  return simulator;
}

const messageOf = ({ body }: Answer): string => stringAt(body, 'message') ?? '';

describe('fields of a custom resource', () => {
  it('drops fields that the schema does not know, and keeps those of open objects', async () => {
    const simulator = await startWithFleets(null);
    const spec = {
      size: 2,
      sise: 3,
      labels: { any: 'x' },
      ships: [{ name: 'a', mast: 1 }],
      open: { deep: { er: 1 } },
    };

    const { code, body } = await send(simulator, 'POST', FLEETS, { body: fleet(spec, { extra: 1 }) });

    expect(code).toBe(201);
    expect(body['spec']).toEqual({
      size: 2,
      labels: { any: 'x' },
      ships: [{ name: 'a' }],
      open: { deep: { er: 1 } },
    });
    expect(body['extra']).toBeUndefined();
  });

  it('rejects unknown fields if validation is strict: 400 for a body, 422 for a patch', async () => {
    const simulator = await startWithFleets();
    const strict = '?fieldValidation=Strict';
    const body = fleet({ size: 2, sise: 3 }, { metadata: { name: 'other' } });

    const created = await send(simulator, 'POST', FLEETS + strict, { body });
    const patched = await send(simulator, 'PATCH', HOME + strict, { body: { spec: { sise: 3 } } });
    const known = await send(simulator, 'PATCH', HOME + strict, { body: { spec: { size: 3 } } });

    expect([created.code, patched.code, known.code]).toEqual([400, 422, 200]);
    expect(messageOf(created)).toBe(
      'Fleet in version "v1" cannot be handled as a Fleet: strict decoding error: unknown field "spec.sise"',
    );
    expect(messageOf(patched)).toContain('strict decoding error: unknown field "spec.sise"');
  });

  it.each<[string, JsonObject, string]>([
    [
      'size 0 under its minimum of 1',
      { size: 0 },
      'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    ],
    [
      'size 10 over its maximum of 9',
      { size: 10 },
      'spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9',
    ],
    [
      'a fraction for an integer',
      { size: 1.5 },
      'spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"',
    ],
    [
      'a string for an integer',
      { size: '2' },
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    ],
    [
      'null for a field that is not nullable',
      { size: null },
      'spec.size: Invalid value: "null": spec.size in body must be of type integer: "null"',
    ],
    ['a missing field', {}, 'spec.size: Required value'],
    [
      'an unknown color',
      { size: 1, color: 'green' },
      'spec.color: Unsupported value: "green": supported values: "red", "blue"',
    ],
    [
      'a string of 6 where 5 are allowed',
      { size: 1, note: 'abcdef' },
      'spec.note: Invalid value: "abcdef": spec.note in body should be at most 5 chars long',
    ],
    [
      'a label that is a number',
      { size: 1, labels: { a: 1 } },
      'spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
    ],
    [
      'an item that does not match',
      { size: 1, ships: [{ name: 'A' }] },
      `spec.ships[0].name: Invalid value: "A": spec.ships[0].name in body should match '^[a-z]+$'`,
    ],
    [
      'a fraction for an int-or-string',
      { size: 1, port: 1.5 },
      'spec.port: Invalid value: "number": spec.port in body must be of type integer,string: "number"',
    ],
  ])('rejects %s with 422', async (_what, spec, sentence) => {
    const simulator = await startWithFleets(null);

    const answer = await send(simulator, 'POST', FLEETS, { body: fleet(spec) });

    expect(answer.code).toBe(422);
    expect(messageOf(answer)).toBe(`Fleet.example.com "home" is invalid: ${sentence}`);
  });

  it.each<[string, JsonObject]>([
    ['1 and 9', { size: 9 }],
    ['null for a nullable field', { size: 1, note: null }],
    ['a number for an int-or-string', { size: 1, port: 80 }],
    ['a string for an int-or-string', { size: 1, port: 'http' }],
  ])('accepts %s', async (_what, spec) => {
    const simulator = await startWithFleets(null);

    const { code, body } = await send(simulator, 'POST', FLEETS, { body: fleet(spec) });

    expect([code, body['spec']]).toEqual([201, spec]);
  });
});

describe('spec and status of a custom resource', () => {
  it('counts generations of the spec, not of the status or of labels', async () => {
    const simulator = await startWithFleets();
    const generation = async (path: string, body: JsonObject): Promise<number | null> =>
      numberAt((await send(simulator, 'PATCH', path, { body })).body, 'metadata', 'generation');

    expect(await generation(HOME, { spec: { size: 2 } })).toBe(1);
    expect(await generation(HOME, { metadata: { labels: { a: 'b' } } })).toBe(1);
    expect(await generation(`${HOME}/status`, { status: { ready: 1 } })).toBe(1);
    expect(await generation(HOME, { spec: { size: 3 } })).toBe(2);
  });

  it('writes the status only through its path, and nothing else through it', async () => {
    const simulator = await startWithFleets(null);
    const created = await send(simulator, 'POST', FLEETS, {
      body: fleet({ size: 2 }, { status: { ready: 7 } }),
    });
    const ignored = await send(simulator, 'PATCH', HOME, { body: { status: { ready: 7 } } });

    const written = await send(simulator, 'PATCH', `${HOME}/status`, {
      body: { spec: { size: 9 }, status: { ready: 1 } },
    });

    expect([created.body['status'], ignored.body['status']]).toEqual([undefined, undefined]);
    expect([written.body['spec'], written.body['status']]).toEqual([{ size: 2 }, { ready: 1 }]);
  });

  it('validates the status, too, and the uid and resourceVersion of its patch', async () => {
    const simulator = await startWithFleets();
    const patch = async (body: JsonObject): Promise<number> =>
      (await send(simulator, 'PATCH', `${HOME}/status`, { body })).code;

    expect(await patch({ status: { ready: 'yes' } })).toBe(422);
    expect(await patch({ metadata: { uid: 'other' }, status: { ready: 1 } })).toBe(409);
    expect(await patch({ metadata: { resourceVersion: '1' }, status: { ready: 1 } })).toBe(409);
    expect(await patch({ status: { ready: 1 } })).toBe(200);
  });

  it('rejects a strategic merge patch: 415', async () => {
    const simulator = await startWithFleets();
    const type = 'application/strategic-merge-patch+json';

    expect((await send(simulator, 'PATCH', HOME, { body: { spec: { size: 3 } }, type })).code).toBe(415);
  });
});
