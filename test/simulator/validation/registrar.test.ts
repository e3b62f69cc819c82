import { describe, expect, it } from '@jest/globals';
import { listAt, objectAt, stringAt } from '../../../src/simulator/kinds/json.js';
import { settle } from '../../support/manual-clock.js';
import { names, send, startCluster, namesOfEvents, watch } from '../cluster.js';
import { DEFINITIONS, FLEETS, fleet, fleetDefinition, installFleets } from './fleet.js';

const DEFINITION = `${DEFINITIONS}/fleets.example.com`;

describe('a CustomResourceDefinition', () => {
  it('is established at once, and its resource is served and discovered from then on', async () => {
    const { simulator } = await startCluster();
    const before = await send(simulator, 'GET', FLEETS);

    const { code, body } = await installFleets(simulator);
    const resources = (await send(simulator, 'GET', '/apis/example.com/v1')).body;

    expect([before.code, code]).toEqual([404, 201]);
    expect(listAt(body, 'status', 'conditions')).toMatchObject([
      { type: 'NamesAccepted', status: 'True' },
      { type: 'Established', status: 'True' },
    ]);
    expect(listAt(resources, 'resources')).toMatchObject([
      { name: 'fleets', singularName: 'fleet', namespaced: true, kind: 'Fleet', shortNames: ['fl'] },
      { name: 'fleets/status', kind: 'Fleet' },
    ]);
    expect((await send(simulator, 'GET', FLEETS)).body).toMatchObject({ kind: 'FleetList', items: [] });
  });

  it('is deleted with its objects, and the path no longer exists', async () => {
    const { simulator } = await startCluster();
    await installFleets(simulator);
    await send(simulator, 'POST', FLEETS, { body: fleet({ size: 2 }) });
    const watching = await watch(simulator, FLEETS);
    await settle(20);

    const deleted = await send(simulator, 'DELETE', DEFINITION);
    await settle(20);

    expect(deleted.code).toBe(200);
    expect(namesOfEvents(watching.events)).toEqual(['ADDED home', 'DELETED home']);
    expect(watching.hasEnded()).toBe(true);
    expect((await send(simulator, 'GET', FLEETS)).code).toBe(404);
    expect(names((await send(simulator, 'GET', DEFINITIONS)).body)).toEqual([]);
  });

  it('serves another schema as soon as it is patched, and keeps the objects', async () => {
    const { simulator } = await startCluster();
    await installFleets(simulator);
    await send(simulator, 'POST', FLEETS, { body: fleet({ size: 2 }) });
    const tooMany = fleet({ size: 10 }, { metadata: { name: 'large' } });
    const refused = await send(simulator, 'POST', FLEETS, { body: tooMany });
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
    };

    const patched = await send(simulator, 'PATCH', DEFINITION, {
      body: { spec: objectAt(fleetDefinition({ schema }), 'spec') },
    });
    const taken = await send(simulator, 'POST', FLEETS, { body: tooMany });

    expect([refused.code, patched.code, taken.code]).toEqual([422, 200, 201]);
    expect(names((await send(simulator, 'GET', FLEETS)).body)).toEqual(['home', 'large']);
  });

  it.each([
    ['a name that is not plural and group', { name: 'ships.example.com' }, 'metadata.name'],
    ['no stored version', { spec: { versions: [] } }, 'spec.versions'],
    [
      'a node without a type',
      { schema: { type: 'object', properties: { spec: {} } } },
      '.properties[spec].type',
    ],
  ])('is rejected with %s', async (_what, change, place) => {
    const { simulator } = await startCluster();

    const { code, body } = await send(simulator, 'POST', DEFINITIONS, { body: fleetDefinition(change) });

    expect(code).toBe(422);
    expect(stringAt(body, 'message')).toContain(place);
  });
});
