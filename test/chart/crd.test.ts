import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { format, resolveConfig } from 'prettier';
import { customResourceDefinition, customResourceDefinitionYaml } from '../../src/cli/schema/definition.js';
import { structuralProblems } from '../../src/simulator/validation/definition.js';
import type { JsonObject } from '../../src/simulator/kinds/json.js';
import {
  CHART,
  HELMS,
  HELM_TIMEOUT_MS,
  at,
  listAt,
  pick,
  render,
  startHelm,
  textAt,
  type Helm,
  type Rendered,
  type Values,
} from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const FILE = join(CHART, 'files/scalers.promscaler.dev.yaml');
const ON = {};
const OFF = { crd: { enabled: false } };
const DEFINITION = 'CustomResourceDefinition';

describe('the CustomResourceDefinition in the chart', () => {
  it('is what schema --crd prints (WRITE_CRD=1 npx jest writes it)', async () => {
    const options = await resolveConfig(FILE);
    const text = await format(customResourceDefinitionYaml(), { ...options, parser: 'yaml' });

    if (process.env['WRITE_CRD'] === '1') writeFileSync(FILE, text);
    expect(readFileSync(FILE, 'utf8')).toBe(text);
    expect(parse(text)).toEqual(customResourceDefinition());
  });

  it('has the columns that the README shows', () => {
    const columns = listAt(customResourceDefinition(), 'spec', 'versions', 0, 'additionalPrinterColumns');
    const names = columns
      .filter((column) => (at(column, 'priority') ?? 0) === 0)
      .map((column) => textAt(column, 'name').toUpperCase());
    const [header = ''] = /^NAMESPACE .*$/m.exec(readFileSync(join(CHART, 'README.md'), 'utf8')) ?? [];

    expect(header.split(/ {2,}/)).toEqual(['NAMESPACE', 'NAME', ...names]);
  });
});

describe.each(HELMS)('crd.enabled with %s', (which) => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm(which);
  });

  const rolesOf = (values: Values): readonly Rendered[] =>
    render(helm, values).filter(({ metadata }) => /-scalers-(edit|view)$/.test(String(at(metadata, 'name'))));

  it('renders the definition unchanged, and helm keeps it when the release is removed', () => {
    const definition = pick(render(helm, ON), DEFINITION);

    expect(definition['spec']).toEqual(customResourceDefinition()['spec']);
    expect(at(definition, 'metadata', 'name')).toBe('scalers.promscaler.dev');
    expect(at(definition, 'metadata', 'annotations')).toEqual({ 'helm.sh/resource-policy': 'keep' });
    const schema = at(definition, 'spec', 'versions', 0, 'schema', 'openAPIV3Schema');
    expect(structuralProblems(schema as JsonObject)).toEqual([]);
  });

  it('is on by default, and renders nothing if it is off or if something else installs it', () => {
    const kinds = (values: Values): readonly unknown[] => render(helm, values).map(({ kind }) => kind);

    expect(kinds({})).toContain(DEFINITION);
    expect(kinds(OFF)).not.toContain(DEFINITION);
    expect(kinds({ crd: { create: false } })).not.toContain(DEFINITION);
    expect(rolesOf(OFF)).toEqual([]);
  });

  it('renders nothing that is cluster-wide if it is off and the namespaces are listed', () => {
    const objects = render(helm, { ...OFF, namespaces: ['shop'] });

    expect(objects.filter((object) => at(object, 'metadata', 'namespace') === undefined)).toEqual([]);
  });

  it('lets the roles edit and view of the cluster include Scalers, without their status', () => {
    const read = ['get', 'list', 'watch'];
    const write = ['create', 'update', 'patch', 'delete', 'deletecollection'];
    const [edit, view] = rolesOf(ON);
    const aggregated = (role: Rendered | undefined): readonly unknown[] =>
      ['admin', 'edit', 'view'].map((to) =>
        at(role, 'metadata', 'labels', `rbac.authorization.k8s.io/aggregate-to-${to}`),
      );

    expect(at(edit, 'metadata', 'name')).toBe('ops-rel-promscaler-scalers-edit');
    expect(edit?.['rules']).toEqual([
      { apiGroups: ['promscaler.dev'], resources: ['scalers'], verbs: [...read, ...write] },
    ]);
    expect(view?.['rules']).toEqual([{ apiGroups: ['promscaler.dev'], resources: ['scalers'], verbs: read }]);
    expect([aggregated(edit), aggregated(view)]).toEqual([
      ['true', 'true', undefined],
      [undefined, undefined, 'true'],
    ]);
    expect(rolesOf({ crd: { aggregateRoles: false } })).toEqual([]);
    // They are the permissions of the teams, not those of the account.
    expect(rolesOf({ ...ON, rbac: { create: false } })).toHaveLength(2);
  });

  it('lets the service read Scalers', () => {
    const configOf = (values: Values): unknown =>
      parse(String(at(pick(render(helm, values), 'ConfigMap', '-config'), 'data', 'promscaler.yaml')));

    expect(at(configOf(ON), 'scalers', 'customResources')).toBe(true);
    expect(at(configOf(OFF), 'scalers', 'customResources')).toBeUndefined();
  });
});
