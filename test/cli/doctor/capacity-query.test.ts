import { expect, it } from '@jest/globals';
import { clusterOfWeb, diagnosed, healthy, prometheus, type Scripted } from './fixture.js';

const DOCUMENT = `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { name: web }
  minReplicas: 1
  maxReplicas: 10
  metrics:
    - external:
        metric: { name: load }
        query: sum(load)
        target: { averageValue: 10 }
        capacity: { auto: { served: { query: sum(done) }, errors: { query: sum(broken) } } }
`;

async function ofCapacity(script: readonly Scripted[]): Promise<readonly (string | null)[]> {
  const { simulator, pods } = await clusterOfWeb();
  const { url } = await prometheus([...script, [/^sum\(load\)/, 20], ...healthy(pods)]);
  const documents = { web: DOCUMENT };
  const { of } = await diagnosed({ prometheus: url, kubernetes: simulator.url, documents });
  return of('query').flatMap(({ status, message }) => (status === 'ok' ? [] : [`${status}: ${message}`]));
}

it('warns of capacity.auto if nothing is served; that there are no errors is no fault', async () => {
  expect(await ofCapacity([])).toEqual([
    expect.stringMatching(
      /^warning: External metric load: capacity\.auto\.served: .+, so the capacity of a pod is not measured$/,
    ),
  ]);
  expect(await ofCapacity([[/^sum\(done\)/, 5]])).toEqual([]);
});
