import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { runCli } from '../fake-io.js';
import { AdoptFixture } from './adopt-fixture.js';

const BOTH = 'scaler shop/second also scales deployment shop/web';
const DRY_RUN = `kubectl patch -n shop scalers.promscaler.dev second --type=merge -p '{"spec":{"dryRun":true}}'`;
const FIRST = `Correct spec.scaleTargetRef of scaler shop/second, delete this scaler, or put it in dry run: ${DRY_RUN}`;

describe('adopt after a switch, while a second scaler has the target', () => {
  let fixture: AdoptFixture;

  beforeEach(async () => {
    fixture = await AdoptFixture.create();
    await fixture.start();
    await fixture.run('--switch');
    fixture.cluster.apply('second', { scaleTargetRef: { name: 'web' }, minReplicas: 6 });
    await fixture.cluster.shows('web', 'Held True ConflictingScaler');
  });

  it.each([['--undo'], ['--undo', '--preview']])(
    'is not undone, because the second scaler would scale before the HPA exists: %s %s',
    async (...args) => {
      const { exitCode, stdout, stderr } = await fixture.run(...args);

      expect([exitCode, stdout, stderr]).toEqual([
        1,
        '',
        `promscaler: ${BOTH}, and would change the replica count before HPA shop/web exists. Nothing was changed. ${FIRST}\n`,
      ]);
      expect([fixture.hpa(), fixture.isDryRun(), fixture.counts]).toEqual([null, false, [4]]);
    },
  );

  it.each([['--report'], ['--switch'], ['--switch', '--preview']])(
    'names the second scaler, and proposes no --undo, which would be refused: %s %s',
    async (...args) => {
      const { exitCode, stderr } = await fixture.run(...args);

      expect(exitCode).toBe(1);
      expect(stderr).toContain(`${BOTH}. ${FIRST}\n`);
      expect(stderr).not.toContain('--undo');
    },
  );

  it('is undone once the second scaler is in dry run', async () => {
    await fixture.cluster.edit('second', { dryRun: true });

    expect(await fixture.run('--undo')).toMatchObject({ exitCode: 0, stderr: '' });
    expect([fixture.hpa() === null, fixture.isDryRun(), fixture.counts]).toEqual([false, true, [4]]);
  });
});

it('adopt --undo is refused while a document in a file has the target, whether or not the service answers', async () => {
  const fixture = await AdoptFixture.create();
  await fixture.start();
  await fixture.run('--switch');
  const directory = join(fixture.service.folder, 'scalers');
  mkdirSync(directory, { recursive: true });
  const document = `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: by-file, namespace: shop }
spec: { scaleTargetRef: { name: web }, minReplicas: 6, maxReplicas: 20 }
`;
  writeFileSync(join(directory, 'by-file.yaml'), document);
  await fixture.cluster.shows('web', 'Held True ConflictingScaler');

  const refused = await fixture.run('--undo');
  const { folder: cwd, env, cluster } = fixture;
  const args = ['adopt', 'hpa/web', '-n', 'shop', '--undo', '--url', 'http://127.0.0.1:1'];
  const unanswered = await runCli(args, { cwd, env, clock: cluster.clock });
  const repeated = await fixture.run('--switch');

  const effect =
    ', and would change the replica count before HPA shop/web exists. Nothing was changed. Correct spec.scaleTargetRef of ';
  const rest = ', delete this scaler, or put it in dry run in its file\n';
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    `promscaler: scaler shop/by-file also scales deployment shop/web${effect}scaler shop/by-file${rest}`,
  ]);
  expect([unanswered.exitCode, unanswered.stderr]).toEqual([
    1,
    `promscaler: another scaler also scales deployment shop/web${effect}that scaler${rest}`,
  ]);
  expect(repeated.stderr).toContain(`scaler shop/by-file${rest}`);
  expect([fixture.hpa(), fixture.isDryRun(), fixture.counts]).toEqual([null, false, [4]]);
});

it('adopt does not propose a switch next to a second scaler', async () => {
  const fixture = await AdoptFixture.create();
  await fixture.start();
  fixture.cluster.apply('second', { scaleTargetRef: { name: 'web' } });

  const { exitCode, stdout, stderr } = await fixture.run();

  expect([exitCode, stderr]).toEqual([0, `promscaler: warning: ${BOTH}. ${FIRST}\n`]);
  expect(stdout).toContain('Compare: ');
  expect(stdout).not.toContain('Switch:');
});
