import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { clusterOfWeb, diagnosed, document, metric, prometheus, runDoctor } from './fixture.js';

let simulator: Simulator;
let url: string;

beforeAll(async () => {
  ({ simulator } = await clusterOfWeb());
  ({ url } = await prometheus([[/./, 7]]));
});

const WEB = document('web', metric('external', 'sum(mails)'));
/** A document with a warning. */
const API = document('api', `  cooldownSeconds: 60\n${metric('external', 'sum(mails)')}`);
const WRONG = WEB.replace('maxReplicas', 'maxReplica').replace('name: web,', 'name: wrong,');

describe('doctor for one scaler', () => {
  it('reports its own warnings, and none of other scalers', async () => {
    const of = async (key: string): Promise<readonly string[]> =>
      (
        await diagnosed({
          prometheus: url,
          kubernetes: simulator.url,
          documents: { web: WEB, api: API, wrong: WRONG },
          args: [key],
        })
      )
        .of('config')
        .map(({ message }) => message);

    expect(await of('shop/web')).toEqual([]);
    expect(await of('shop/api')).toEqual([expect.stringContaining('spec.cooldownSeconds has no effect')]);
  });

  it.each([
    ['gone', { web: WEB }, 'there is no document of scaler shop/gone'],
    ['wep', { web: WEB }, 'there is no document of scaler shop/wep; similar: shop/web'],
    [
      'wrong',
      { web: WEB, wrong: WRONG },
      'no valid document of scaler shop/wrong: spec.maxReplicas is missing; spec.maxReplica is not',
    ],
    ['gone', { web: WEB, open: 'kind: [' }, 'no valid document of scaler shop/gone'],
  ])('without a document in effect says why: %s', async (name, documents, expected) => {
    const { exitCode, stderr } = await runDoctor({
      prometheus: url,
      kubernetes: simulator.url,
      documents,
      args: [`shop/${name}`],
    });

    expect(exitCode).toBe(2);
    expect(stderr).toContain(expected);
  });
});
