import { beforeEach, describe, expect, it } from '@jest/globals';
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
