import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';
import type { AdoptContext, ScalerObject } from '../../../src/cli/adopt/adoption.js';
import { whatChanged, whatDiffers } from '../../../src/cli/adopt/check-source.js';
import { HPA as HPA_KIND, SCALED_OBJECT, targetOf } from '../../../src/cli/reach/source-kinds.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { eventually } from '../../support/manual-clock.js';
import { send } from '../../simulator/cluster.js';
import { folderOf, runCli } from '../fake-io.js';
import { AdoptFixture, HPA } from './adopt-fixture.js';

const HPA_PATH = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web';
const IMPORTED_SPEC = 'promscaler.dev/imported-spec';
const FILE_TOO = 'A file from which you apply the scaler needs the change, too, or a new import';

interface Imported {
  readonly manifest?: JsonObject;
  /** Whether the document has no annotation with the spec of the import. */
  readonly isOlder?: boolean;
  readonly rules?: readonly string[];
}

/** Returns the document of `import --dry-run`. */
async function imported(
  cwd: string,
  { manifest = HPA, isOlder = false, rules = [] }: Imported = {},
): Promise<JsonObject> {
  writeFileSync(join(cwd, 'hpa.yaml'), stringify(manifest));
  const { stdout } = await runCli(['import', '--dry-run', 'hpa.yaml', ...rules], { cwd });
  const document = parse(stdout) as JsonObject & { readonly metadata: JsonObject };
  if (!isOlder) return document;
  const { annotations, ...metadata } = document.metadata;
  const older = Object.entries(annotations as JsonObject).filter(([key]) => key !== IMPORTED_SPEC);
  return { ...document, metadata: { ...metadata, annotations: Object.fromEntries(older) } };
}

async function applyImported(fixture: AdoptFixture, options: Imported = {}): Promise<void> {
  const rules = ['--adapter-config', 'adapter.yaml'];
  fixture.cluster.simulator.addObject(await imported(fixture.folder, { ...options, rules }));
}

describe('an HPA that has changed since import --dry-run', () => {
  const context = {
    source: { kind: HPA_KIND, namespace: 'shop', name: 'web' },
  } as unknown as AdoptContext;
  const keda = { source: { ...context.source, kind: SCALED_OBJECT } } as unknown as AdoptContext;
  const resource = (name: string, averageUtilization: number): JsonObject => ({
    type: 'Resource',
    resource: { name, target: { type: 'Utilization', averageUtilization } },
  });
  const hpa = (...metrics: readonly JsonObject[]): JsonObject => withSpec(HPA, { metrics });
  const withSpec = (object: JsonObject, spec: JsonObject): JsonObject => ({
    ...object,
    spec: { ...(object['spec'] as JsonObject), ...spec },
  });
  const scalerOf = (object: JsonObject): ScalerObject => ({
    object,
    name: 'web',
    target: targetOf(object),
    isDryRun: true,
  });
  const MEMORY = resource('memory', 120);

  it('has another metric with the same target', async () => {
    const scaler = scalerOf(await imported(folderOf({}), { manifest: hpa(MEMORY) }));

    expect(whatChanged(context, scaler, hpa(MEMORY))).toBeNull();
    expect(whatChanged(context, scaler, hpa(resource('cpu', 120)))).toBe(
      `HPA shop/web has changed since it was imported (spec.metrics[0].resource.name: "memory" -> "cpu"): make the same change to scaler shop/web. ${FILE_TOO}`,
    );
  });

  it('differs from a document that a user has edited only in what the HPA has changed', async () => {
    const document = await imported(folderOf({}), { manifest: hpa(MEMORY) });
    const metrics = [{ resource: { name: 'cpu', target: { averageUtilization: 70 } } }];
    const edited = scalerOf(withSpec(document, { maxReplicas: 7, metrics }));

    expect(whatDiffers(context, edited, hpa(MEMORY))).toBeNull();
    expect(whatDiffers(context, edited, withSpec(hpa(MEMORY), { minReplicas: 3 }))).toBe(
      `HPA shop/web has changed since it was imported (spec.minReplicas: 2 -> 3): make the same change to scaler shop/web. ${FILE_TOO}`,
    );
  });

  const withManifest = (document: JsonObject, object: JsonObject): JsonObject => {
    const metadata = document['metadata'] as { readonly annotations: JsonObject };
    const manifest = { 'promscaler.dev/adopted-manifest': JSON.stringify(object) };
    return { ...document, metadata: { ...metadata, annotations: { ...metadata.annotations, ...manifest } } };
  };

  const since = (what: string): string =>
    `HPA shop/web has changed since ${what}: make the same change to scaler shop/web. ${FILE_TOO}`;

  it.each([
    [
      'an old file is applied again',
      { hpa: 7, scaler: 6 },
      since('it was imported (spec.maxReplicas: 6 -> 7)'),
    ],
    ['the HPA is back', { hpa: 6, scaler: 7 }, since('its manifest was saved (spec.maxReplicas: 7 -> 6)')],
    ['both are back', { hpa: 6, scaler: 6 }, null],
    ['both have the change', { hpa: 7, scaler: 7 }, null],
    ['the scaler is changed on purpose', { hpa: 7, scaler: 9 }, null],
    ['the scaler is changed on purpose, and the HPA is back', { hpa: 6, scaler: 9 }, null],
    [
      'the HPA changes again',
      { hpa: 8, scaler: 7 },
      since('its manifest was saved (spec.maxReplicas: 7 -> 8)'),
    ],
    [
      'the HPA changes again, and an old file is applied',
      { hpa: 8, scaler: 6 },
      since('it was imported (spec.maxReplicas: 6 -> 8)'),
    ],
  ])('is judged after a switch with 7 of what was imported with 6: %s', async (_, counts, expected) => {
    const ofHpa = (maxReplicas: number): JsonObject => withSpec(hpa(MEMORY), { maxReplicas });
    const document = await imported(folderOf({}), { manifest: ofHpa(6) });
    const switched = withManifest(document, ofHpa(7));
    const scaler = scalerOf(withSpec(switched, { maxReplicas: counts.scaler }));

    expect(whatChanged(context, scaler, ofHpa(counts.hpa))).toBe(expected);
  });

  it('is a ScaledObject whose new threshold a completed document lacks, although the last switch has seen it', async () => {
    const kafka = (lagThreshold: string): JsonObject => ({
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { scaleTargetRef: { name: 'web' }, triggers: [{ type: 'kafka', metadata: { lagThreshold } }] },
    });
    const document = await imported(folderOf({}), { manifest: kafka('100') });
    const external = { query: 'sum(lag)', target: { averageValue: 100 } };
    const scaler = withManifest(withSpec(document, { metrics: [{ external }] }), kafka('50'));

    expect(whatChanged(keda, scalerOf(scaler), kafka('50'))).toContain('averageValue: 100 -> 50');
  });

  const pods = (averageValue: string): JsonObject => ({
    type: 'Pods',
    pods: { metric: { name: 'load' }, target: { type: 'AverageValue', averageValue } },
  });
  const memory = (averageValue: string): JsonObject => ({
    type: 'Resource',
    resource: { name: 'memory', target: { type: 'AverageValue', averageValue } },
  });
  const withoutMetrics = { scaleTargetRef: (HPA['spec'] as JsonObject)['scaleTargetRef'], maxReplicas: 20 };
  const tolerating = (tolerance: string): JsonObject =>
    withSpec(hpa(MEMORY), { behavior: { scaleUp: { tolerance } } });

  it.each([
    ['0.5 is 500m', hpa(pods('0.5')), hpa(pods('500m')), hpa(pods('600m'))],
    ['1024Mi is 1Gi', hpa(memory('1024Mi')), hpa(memory('1Gi')), hpa(memory('2Gi'))],
    ['10000m is 10', hpa(pods('10000m')), hpa(pods('10')), hpa(pods('11'))],
    ['a tolerance of 0.05 is 50m', tolerating('0.05'), tolerating('50m'), tolerating('60m')],
    [
      'no metrics is cpu at 80 percent',
      { ...HPA, apiVersion: 'autoscaling/v2', spec: withoutMetrics },
      withSpec({ ...HPA, spec: withoutMetrics }, { metrics: [resource('cpu', 80)] }),
      withSpec({ ...HPA, spec: withoutMetrics }, { metrics: [resource('cpu', 81)] }),
    ],
    [
      'no metrics in autoscaling/v1 is cpu at 80 percent',
      { ...HPA, apiVersion: 'autoscaling/v1', spec: withoutMetrics },
      withSpec({ ...HPA, spec: withoutMetrics }, { metrics: [resource('cpu', 80)] }),
      withSpec({ ...HPA, spec: withoutMetrics }, { metrics: [resource('memory', 80)] }),
    ],
  ])('has not changed if the API server has only normalized it: %s', async (_, manifest, live, changed) => {
    const scaler = scalerOf(await imported(folderOf({}), { manifest }));
    const older = scalerOf(await imported(folderOf({}), { manifest, isOlder: true }));

    expect(whatChanged(context, scaler, live)).toBeNull();
    expect(whatDiffers(context, older, live)).toBeNull();
    expect(whatChanged(context, scaler, changed)).toContain('has changed since it was imported (spec.');
    expect(whatDiffers(context, older, changed)).toContain('would differ from scaler shop/web (spec.');
  });

  const selecting = (type: 'Pods' | 'External', selector: JsonObject): JsonObject => {
    const target = { type: 'AverageValue', averageValue: '10' };
    return hpa({ type, [type.toLowerCase()]: { metric: { name: 'load', selector }, target } });
  };

  it.each([['Pods'], ['External']] as const)('has another selector of a %s metric', async (type) => {
    const mail = selecting(type, { matchLabels: { queue: 'mail', app: 'web' } });
    const print = selecting(type, { matchLabels: { app: 'web', queue: 'print' } });
    const document = await imported(folderOf({}), { manifest: mail });
    const reading = (query: string): ScalerObject => {
      const body = { metric: { name: 'load' }, query, target: { averageValue: 10 } };
      return scalerOf(withSpec(document, { metrics: [{ [type.toLowerCase()]: body }] }));
    };
    const refused =
      `HPA shop/web has changed since it was imported (spec.metrics[0].${type.toLowerCase()}.metric.selector[1]: ` +
      String.raw`"queue=\"mail\"" -> "queue=\"print\""): make the same change to scaler shop/web. ${FILE_TOO}`;

    const reordered = selecting(type, { matchLabels: { app: 'web', queue: 'mail' } });
    expect(whatChanged(context, scalerOf(document), reordered)).toBeNull();
    expect(whatChanged(context, scalerOf(document), print)).toBe(refused);
    expect(whatChanged(context, reading('sum(load{queue="mail"})'), print)).toBe(refused);
    expect(whatChanged(context, reading(`sum(load{queue='print', app="web"})`), print)).toBeNull();
    expect(whatChanged(context, reading('sum(load{queue="mail"})'), selecting(type, {}))).toContain(
      'metric.selector',
    );
    expect(whatChanged(context, reading('sum(load)'), selecting(type, {}))).toBeNull();
  });

  it('has a selector that a document without the spec of the import does not need', async () => {
    const mail = selecting('External', { matchLabels: { queue: 'mail' } });

    const older = scalerOf(await imported(folderOf({}), { manifest: mail, isOlder: true }));

    expect([whatDiffers(context, older, mail), whatChanged(context, older, mail)]).toEqual([null, null]);
  });

  it('is a ScaledObject with another cron trigger', async () => {
    const cron = (desiredReplicas: string): JsonObject => ({
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata: { name: 'web', namespace: 'shop' },
      spec: {
        scaleTargetRef: { name: 'web' },
        triggers: [
          { type: 'cpu', metricType: 'Utilization', metadata: { value: '60' } },
          {
            type: 'cron',
            metadata: { timezone: 'UTC', start: '0 8 * * *', end: '0 9 * * *', desiredReplicas },
          },
        ],
      },
    });
    const scaler = scalerOf(await imported(folderOf({}), { manifest: cron('5') }));

    expect(whatChanged(keda, scaler, cron('5'))).toBeNull();
    expect(whatChanged(keda, scaler, cron('6'))).toBe(
      `ScaledObject shop/web has changed since it was imported (spec.schedules[0].minReplicas: 5 -> 6): make the same change to scaler shop/web. ${FILE_TOO}`,
    );
  });

  it('has no change if only the query was unknown or is implied', async () => {
    const document = await imported(folderOf({}));
    const other = parse(JSON.stringify(HPA).replace('"load"', '"queue"')) as JsonObject;
    const metrics = [{ external: { query: 'sum(queue)', target: { averageValue: 10 } } }];

    expect(whatChanged(context, scalerOf(document), HPA)).toBeNull();
    expect(whatChanged(context, scalerOf(document), other)).toContain(
      '(spec.metrics[0].external.metric.name: "load" -> "queue")',
    );
    expect(whatChanged(context, scalerOf(withSpec(document, { metrics })), other)).toBeNull();
  });

  it.each([
    [
      'another metric',
      hpa(MEMORY),
      'spec.metrics[0].resource.name: "cpu" -> "memory", spec.metrics[0].resource.target.averageUtilization: 90 -> 120',
    ],
    [
      'a second metric',
      hpa(resource('cpu', 90), MEMORY),
      'spec.metrics: [{"resource":{"name":"cpu","target":{"averageUtilization":90}}}] -> [{"resource":{"name":"cpu","target":{"averageUtilization":90}}},{"resource":{"name":"memory","target":{"averageUtilization":120}}}]',
    ],
    [
      'a behavior',
      withSpec(hpa(resource('cpu', 90)), { behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } }),
      'spec.behavior.scaleDown.stabilizationWindowSeconds: (unset) -> 60',
    ],
  ])('is compared with a document without the spec of the import: %s', async (_, now, changes) => {
    const manifest = hpa(resource('cpu', 90));
    const scaler = scalerOf(await imported(folderOf({}), { manifest, isOlder: true }));

    expect(whatDiffers(context, scaler, manifest)).toBeNull();
    expect(whatDiffers(context, scaler, now)).toBe(
      `a new import of HPA shop/web would differ from scaler shop/web (${changes}): change the scaler accordingly, unless the difference is intended`,
    );
  });
});

describe('adopt', () => {
  it.each([
    ['of import --dry-run', false, 'HPA shop/web has changed since it was imported'],
    [
      'without the spec of the import',
      true,
      'a new import of HPA shop/web would differ from scaler shop/web',
    ],
  ])('does not switch to a document %s if the HPA has another metric', async (_, isOlder, why) => {
    const fixture = await AdoptFixture.create();
    await applyImported(fixture, { isOlder });
    await fixture.compared(3);
    const other = parse(JSON.stringify(HPA).replace('"load"', '"queue"')) as JsonObject;
    await send(fixture.cluster.simulator, 'PATCH', HPA_PATH, { body: { spec: other['spec'] } });

    const report = await fixture.run('--report');
    const switched = await fixture.run('--switch');

    const change = `${why} (spec.metrics[0].external.metric.name: "load" -> "queue"): `;
    expect(report.stdout).toContain(`A switch would be refused now: ${change}`);
    expect([switched.exitCode, switched.stderr]).toEqual([1, expect.stringContaining(change)]);
    expect(switched.stderr).toContain('. Nothing was changed; use --force to switch anyway\n');
    expect([fixture.hpa() === null, fixture.isDryRun()]).toEqual([false, true]);
  });

  it('hand over a document of import --dry-run that was applied, without --force', async () => {
    const fixture = await AdoptFixture.create();
    await applyImported(fixture);
    await fixture.compared(3);

    const started = await fixture.run();
    const switched = await fixture.run('--switch');

    expect([started.exitCode, started.stderr]).toEqual([0, '']);
    expect(started.stdout).toContain('scaler shop/web is already in dry run next to HPA shop/web');
    expect(switched.stderr).not.toContain('differs');
    expect([switched.exitCode, fixture.hpa(), fixture.isDryRun()]).toEqual([0, null, false]);
    expect((await fixture.run('--undo')).exitCode).toBe(0);
    expect(fixture.hpa()).toMatchObject({ metadata: HPA['metadata'], spec: HPA['spec'] });
  });

  it('accept a change of the HPA once the scaler has it, and not a change of behavior that it lacks', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    const change = (spec: JsonObject) =>
      send(fixture.cluster.simulator, 'PATCH', HPA_PATH, { body: { spec } });
    await change({ maxReplicas: 30 });
    const refused = await fixture.run('--switch');
    await fixture.cluster.edit('web', { maxReplicas: 30 });
    await eventually(
      () => fixture.cluster.status('web')['observedGeneration'] === fixture.generation(),
      'a status',
    );
    const report = await fixture.run('--report');
    await change({ behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } });
    const changedAgain = await fixture.run('--switch');

    expect(refused.stderr).toContain('(spec.maxReplicas: 20 -> 30): make the same change to scaler shop/web');
    expect(report.stdout).toContain('Switch:  ');
    expect(changedAgain.stderr).toContain('has changed since it was imported (spec.behavior');
  });

  it('say in what a document without imported-spec differs: a maximum of 30, and a target of 11', async () => {
    const fixture = await AdoptFixture.create();
    const earlier = JSON.stringify(HPA).replace('"10"', '"11"').replace('20', '30');
    await applyImported(fixture, { manifest: parse(earlier) as JsonObject, isOlder: true });
    await fixture.compared(1);
    await eventually(
      () => fixture.cluster.status('web')['observedGeneration'] === fixture.generation(),
      'a status',
    );

    const reported = await fixture.run('--report');
    const switched = await fixture.run('--switch', '--preview', '--force');

    const differs =
      'a new import of HPA shop/web would differ from scaler shop/web (spec.maxReplicas: 30 -> 20, ' +
      'spec.metrics[0].external.target.averageValue: 11 -> 10): change the scaler accordingly, unless the difference is intended\n';
    expect(reported.stdout).toContain(`Note:    ${differs}`);
    expect(switched.stderr).toContain(`warning: ${differs}`);
  });

  it('do not switch after an undo if the file of the import, without the change of the HPA, is applied again', async () => {
    const fixture = await AdoptFixture.create();
    await applyImported(fixture);
    await send(fixture.cluster.simulator, 'PATCH', HPA_PATH, { body: { spec: { maxReplicas: 30 } } });
    await fixture.cluster.edit('web', { maxReplicas: 30 });
    await fixture.compared(1);
    const switched = await fixture.run('--switch');
    await fixture.run('--undo');
    await fixture.cluster.edit('web', { maxReplicas: 20 });
    await fixture.compared(1);

    const again = await fixture.run('--switch');

    expect([switched.exitCode, again.exitCode]).toEqual([0, 1]);
    expect(again.stderr).toContain('has changed since it was imported (spec.maxReplicas: 20 -> 30)');
    expect(fixture.hpa()).not.toBeNull();
  });

  it('--switch --force warns of changes of the HPA that the scaler lacks, and --switch names them', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    await send(fixture.cluster.simulator, 'PATCH', HPA_PATH, { body: { spec: { maxReplicas: 30 } } });
    fixture.cluster.load = null;
    await fixture.decided(2);

    const refused = await fixture.run('--switch');
    fixture.cluster.load = 40;
    await fixture.decided(2);
    const forced = await fixture.run('--switch', '--force', '--preview');

    const changed = `HPA shop/web has changed since it was imported (spec.maxReplicas: 20 -> 30): make the same change to scaler shop/web. ${FILE_TOO}`;
    expect(refused.stderr).toContain(changed);
    expect([forced.exitCode, forced.stderr]).toEqual([0, expect.stringContaining(`warning: ${changed}\n`)]);
  });
});
