import { afterEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { createApp } from '../../../src/server/app.js';
import type { Peer } from '../../../src/server/fleet/peer-check.js';
import { mergeParts, readPart, readRevisions, writeRevisions } from '../../../src/server/overview/parts.js';
import { overviewSchema } from '../../../src/api/dashboard-schemas.js';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import { createRecords } from '../../../src/telemetry/records.js';
import type { Records } from '../../../src/telemetry/records.js';
import { at } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { decision, record, scaler } from '../../telemetry/record-builder.js';
import { partsOf } from '../app-parts.js';
import { readKeys } from '../fleet/peer-keys.js';

interface Replica {
  readonly records: Records;
  readonly server: RunningServer;
  readonly peers: Peer[];
}

const replicas: Replica[] = [];

afterEach(async () => {
  await Promise.all(replicas.splice(0).map(({ server }) => server.close()));
});

async function startReplica(identity: string, names: readonly string[]): Promise<Replica> {
  const clock = new ManualClock();
  clock.chance = replicas.length / 10;
  const records = createRecords(clock);
  for (const name of names) records.ledger.add(record({ scaler: scaler(name) }));
  const peers: Peer[] = [];
  const fleet = { identity, isOwn: () => true, ownerOf: () => null, peers: () => peers, keys: readKeys };
  const app = createApp(partsOf(records, { fleet, clock: { ...SYSTEM_CLOCK, random: () => clock.chance } }));
  const server = await startServer({ app, host: '127.0.0.1', port: 0, clock: SYSTEM_CLOCK });
  const replica = { records, server, peers };
  replicas.push(replica);
  return replica;
}

/** Two replicas that know each other, with the scalers a and c, and b and d. */
async function startTwo(): Promise<readonly [Replica, Replica]> {
  const first = await startReplica('first', ['a', 'c']);
  const second = await startReplica('second', ['b', 'd']);
  first.peers.push({ identity: 'second', address: second.server.url });
  second.peers.push({ identity: 'first', address: first.server.url });
  return [first, second];
}

async function overview({ server }: Replica, since = '') {
  const response = await fetch(`${server.url}/api/v1/overview?since=${since}`);
  const { rows, ...rest } = overviewSchema.parse(await response.json());
  return { ...rest, names: rows.map(({ name }) => name) };
}

const changed = (name: string): ReturnType<typeof record> =>
  record({ scaler: scaler(name), at: at(15), decision: decision({ desiredReplicas: 9 }) });

describe('the overview of several replicas', () => {
  it('has the rows of all, from any of them, and then only the changes of all', async () => {
    const [first, second] = await startTwo();
    const all = await overview(first);
    expect(all).toMatchObject({
      names: ['a', 'b', 'c', 'd'],
      isComplete: true,
      leader: true,
      unreachable: [],
    });

    first.records.ledger.add(changed('c'));
    second.records.ledger.add(changed('b'));
    const changes = await overview(second, all.revision);
    const nothing = await overview(first, changes.revision);

    expect(changes).toMatchObject({ names: ['b', 'c'], isComplete: false, removed: [] });
    expect(nothing).toMatchObject({ names: [], isComplete: false, revision: changes.revision });
  });

  it('returns all rows if a scaler has moved to another replica', async () => {
    const [first, second] = await startTwo();
    const { revision } = await overview(first);
    first.records.ledger.remove('shop/a');
    second.records.ledger.add(record({ scaler: scaler('a') }));

    expect(await overview(first, revision)).toMatchObject({
      names: ['a', 'b', 'c', 'd'],
      isComplete: true,
      removed: [],
    });
  });

  it('names a replica that does not answer, and returns all rows when it is back or has left', async () => {
    const [first, second] = await startTwo();
    const { revision } = await overview(first);
    const [peer] = first.peers.splice(0, 1, { identity: 'second', address: 'http://127.0.0.1:1' });
    const without = await overview(first, revision);
    expect(without).toMatchObject({ names: [], isComplete: false, unreachable: ['second'], leader: false });
    if (peer !== undefined) first.peers.splice(0, 1, peer);
    second.records.ledger.add(changed('d'));
    const back = await overview(first, without.revision);
    expect(back).toMatchObject({ names: ['d'], isComplete: false, unreachable: [] });

    first.peers.splice(0, 1);

    expect(await overview(first, back.revision)).toMatchObject({ names: ['a', 'c'], isComplete: true });
  });

  it('returns all rows while a new replica is unknown to the client', async () => {
    const [first] = await startTwo();
    const { revision } = await overview(first);
    const third = await startReplica('third', ['e']);
    first.peers.push({ identity: 'third', address: third.server.url });

    expect(await overview(first, revision)).toMatchObject({
      names: ['a', 'b', 'c', 'd', 'e'],
      isComplete: true,
    });
  });
});

describe('a part of another replica', () => {
  const HEAD = '{"revision":"r","isComplete":true,"removed":[]}';

  it.each([
    ['', null],
    ['[]', null],
    ['{"revision":1,"isComplete":true,"removed":[]}', null],
    ['{"revision":"r","isComplete":true,"removed":[1]}', null],
    [`${HEAD}\n{"namespace":"shop"}`, null],
    [`${HEAD}\n{"namespace":"shop","name":"web"`, null],
    [`${HEAD}\nnull`, null],
    [HEAD, []],
    [`${HEAD}\n{"namespace":"shop","name":"web"}`, ['shop/web']],
  ])('%s', async (text, keys) => {
    const part = await readPart(Buffer.from(text), SYSTEM_CLOCK);

    expect(part === null ? null : [...part.rows.keys()]).toEqual(keys);
  });

  it('does not fit to one with changes if it is complete', () => {
    const part = { revision: 'r', rows: new Map<string, string>(), removed: [] };
    const merge = (...complete: readonly boolean[]): boolean | undefined =>
      mergeParts(new Map(complete.map((isComplete, index) => [String(index), { ...part, isComplete }])))
        ?.isComplete;

    expect([merge(true, true), merge(false, false), merge(true, false)]).toEqual([true, false, undefined]);
  });
});

describe('the revisions of several replicas', () => {
  it('are read as they were written', () => {
    const revisions = new Map([
      ['b', 'run.1.all'],
      ['a', 'run.2.all'],
    ]);

    expect(readRevisions(writeRevisions(revisions))).toEqual(revisions);
  });

  it.each([
    null,
    '',
    'x',
    'bnVsbA',
    Buffer.from('[["a",1]]').toString('base64url'),
    Buffer.from('[["a"]]').toString('base64url'),
  ])('are unknown for %j', (token) => {
    expect(readRevisions(token)).toBeNull();
  });

  it('have no token above 1,800 characters, which would not fit in a URL', () => {
    const many = new Map(Array.from({ length: 60 }, (_, index) => [`r-${index}`, 'x'.repeat(30)]));

    expect(writeRevisions(many)).toBe('');
  });
});
