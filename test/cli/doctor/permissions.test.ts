import { beforeAll, describe, expect, it } from '@jest/globals';
import { demoStateMaps } from '../../../src/cli/demo/workloads.js';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import { customResourceDefinition } from '../../../src/cli/schema/definition.js';
import { PERMISSIONS, type Permission, permissionsBy } from '../../../src/service/permissions.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { rulesFor } from '../../support/permission-rules.js';
import { cluster, diagnosed, document, prometheus } from './fixture.js';

const CONFIG = `state: { enabled: true }
scalers: { customResources: true }
server: { auth: { tokenReview: true } }
`;
const ELECTION = 'leaderElection: { enabled: true }\n';
const SHARDING = 'sharding: { enabled: true }\n';
const CHECKS: readonly string[] = ['permissions', 'lease', 'state', 'custom-resources'];

let url: string;
let simulator: Simulator;

beforeAll(async () => {
  ({ url } = await prometheus([]));
  simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 1 }] });
  simulator.addObject(customResourceDefinition() as JsonObject);
  for (const manifest of demoStateMaps('default')) simulator.addObject({ ...manifest, data: {} });
});

/** Runs the checks of permissions with everything on, as an account with all permissions but this one. */
async function diagnoseWithout(
  missing: Permission | null,
  election: 'leaderElection.enabled' | 'sharding.enabled',
): Promise<readonly CheckResult[]> {
  const granted = permissionsBy(
    [
      'rbac.create',
      'targets',
      'podDeletionCost.enabled',
      'crd.enabled',
      'state.enabled',
      'auth.tokenReview',
      election,
    ],
    [{ group: 'apps', plural: 'deployments' }],
  ).filter(({ use }) => use !== missing?.use);
  const rules = (['scaled', 'own', 'cluster'] as const).flatMap((place) =>
    rulesFor(granted.filter(({ where }) => where === place)).map((rule) =>
      place === 'cluster' ? rule : { ...rule, namespaces: [place === 'own' ? 'default' : 'shop'] },
    ),
  );
  simulator.setRbac({ secret: { user: 'promscaler', rules } });
  const ranked = `${document('web')}\n  podDeletionCost: { query: sum by (pod) (x) }\n`;
  const { results } = await diagnosed({
    prometheus: url,
    kubernetes: `${simulator.url}/as/secret`,
    config: `${CONFIG}${election === 'sharding.enabled' ? SHARDING : ELECTION}`,
    documents: { web: ranked },
    namespaces: '[shop]',
  });
  return results.filter(({ check, status }) => CHECKS.includes(check) && status !== 'ok');
}

describe('doctor, as an account with the permissions of the table', () => {
  it.each(['leaderElection.enabled', 'sharding.enabled'] as const)(
    'finds that none is missing, with %s',
    async (election) => {
      expect(await diagnoseWithout(null, election)).toEqual([]);
    },
  );

  it.each(PERMISSIONS.map((permission) => [permission.use, permission] as const))(
    'reports what fails without the permission to %s',
    async (_use, permission) => {
      const { grantedBy, isRequired, verbs, resource, without } = permission;
      const election = grantedBy === 'sharding.enabled' ? grantedBy : 'leaderElection.enabled';

      const found = await diagnoseWithout(permission, election);

      const [plural = ''] = resource.replace('TARGET', 'deployments').split('/');
      expect(found.map(({ status }) => status)).toEqual([isRequired ? 'failed' : 'warning']);
      for (const text of [verbs[0] ?? '', plural, without.replace('TARGET', 'deployments')])
        expect(found[0]?.message).toContain(text);
      expect(found[0]?.fix).toContain(
        grantedBy === 'targets' || resource === 'pods' ? 'chart value' : `${grantedBy}: true`,
      );
    },
  );
});
