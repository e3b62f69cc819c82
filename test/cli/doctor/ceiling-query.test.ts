import { describe, expect, it } from '@jest/globals';
import { type Scripted, clusterOfWeb, document, diagnosed, healthy, prometheus } from './fixture.js';

describe('the check query of maxReplicasFrom', () => {
  /** Returns what doctor reports for 2 replicas of `shop/web` and this answer. */
  async function ofCeiling(script: readonly Scripted[]): Promise<readonly (string | null)[]> {
    const { simulator, pods } = await clusterOfWeb();
    const { url } = await prometheus([...script, ...healthy(pods)]);
    const spec = '  maxReplicasFrom: { query: \'sum(free{namespace="$namespace"})\' }\n';
    const documents = { web: document('web', spec) };
    const { of } = await diagnosed({ prometheus: url, kubernetes: simulator.url, documents });
    return of('query').flatMap(({ status, message, fix }) => [`${status}: ${message}`, fix]);
  }

  it('warns without a value, and below the current replicas', async () => {
    expect(await ofCeiling([])).toEqual([
      'warning: maxReplicasFrom: no series: the last value of the query applies; without a last value, only maxReplicas applies',
      'run the query in the Prometheus UI: sum(free{namespace="shop"})',
    ]);
    expect(await ofCeiling([[/^sum\(free/, 1]])).toEqual([
      'warning: maxReplicasFrom is 1, below the current 2 replicas, so the scaler does not scale up',
      'the query must return the replicas that are possible in total, including the running ones, not the free capacity; run the query in the Prometheus UI: sum(free{namespace="shop"})',
    ]);
    expect(await ofCeiling([[/^sum\(free/, 2]])).toEqual([]);
  });
});
