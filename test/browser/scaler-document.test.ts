import { expect, test } from '@jest/globals';
import type { ScalerDetail } from '../../src/api/answers.js';
import { invalidRow } from './support/answers.js';
import { findBarriers, overflowOf } from './support/browser.js';
import { HEALTHY } from './support/scaler-stories.js';
import { tellStory } from './support/scaler-story.js';
import { useStage } from './support/stage.js';
import { aRecommendation } from '../telemetry/a-recommendation.js';

const stage = useStage();

const TEXT = `# for the sale, until January
apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: web, namespace: shop }
spec: { maxReplicas: -1 }`;

test('the document of a file is shown with its comments, and a rejected version with what differs', async () => {
  const rejectedChanges = [{ field: 'spec.maxReplicas', current: '20', proposed: '-1' }];
  const others = tellStory({ ...HEALTHY, newest: { documentText: TEXT, rejectedChanges } });
  const { page } = await stage.open({ others }, { hash: '#/scalers/shop/web', width: 390 });
  const part = page.getByRole('region', { name: 'Document' });

  await part.getByRole('heading', { name: 'Document' }).click();
  await part.getByText('spec.maxReplicas: 20 → -1').waitFor();
  await part.getByRole('button', { name: 'As YAML' }).click();

  expect(await part.locator('pre').innerText()).toBe(TEXT);
  expect(await part.locator('.hint').innerText()).toBe(
    'The rejected version, as in /etc/promscaler/scalers/web.yaml',
  );
  expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);
});

test('the last decision names its generation of a Scaler object that is not the newest one', async () => {
  const others = tellStory({ ...HEALTHY, generations: { generation: 4, newestGeneration: 5 } });
  const { page } = await stage.open({ others }, { hash: '#/scalers/shop/web' });

  const fact = page.getByText('generation 4; the newest generation, 5, has no decision yet');
  await fact.waitFor();
});

test('the last decision says that the newest generation is rejected, also if the cause is cut off before it', async () => {
  const told = tellStory({ ...HEALTHY, generations: { generation: 4, newestGeneration: 5 } });
  const others = {
    ...told,
    'scalers/shop/web': (url: URL): unknown => ({
      ...(told['scalers/shop/web']?.(url) as ScalerDetail),
      rejections: invalidRow().rejections,
    }),
  };
  const { page } = await stage.open({ others }, { hash: '#/scalers/shop/web' });

  await page.getByText('this decision uses generation 4, because generation 5 is rejected').waitFor();
});

test.each([
  [true, /^Apply it:\s+kubectl patch -n shop scalers\.promscaler\.dev web --type=merge -p '\{"spec":/],
  [false, /^Set these fields in \/etc\/promscaler\/scalers\/web\.yaml\.$/],
])(
  'a recommendation has its saving, risk and evidence, and a command to copy: %j',
  async (isObject, apply) => {
    const told = tellStory(HEALTHY);
    const others = {
      ...told,
      'scalers/shop/web': (url: URL): unknown => ({
        ...(told['scalers/shop/web']?.(url) as ScalerDetail),
        recommendation: {
          ...aRecommendation(),
          at: '2026-01-01T00:00:00Z',
          from: '2025-12-25T00:00:00Z',
          to: '2026-01-01T00:00:00Z',
          isObject,
        },
      }),
    };
    const { page } = await stage.open({ others }, { hash: '#/scalers/shop/web', width: 390 });
    const part = page.locator('.what-to-do');
    await part.getByRole('heading', { name: 'Recommended: expect 12.5 % fewer pod-hours' }).waitFor();

    const items = await part.getByRole('listitem').allInnerTexts();

    expect(items).toEqual([
      'spec.metrics[0].resource.target.averageUtilization: 60\u00a0→\u00a070',
      'spec.tolerance: (unset)\u00a0→\u00a00.05',
      'risk: theta_U (missing pods) 0.010 %\u00a0→\u00a00.012 % in the parts of the history that are used to score the change',
      expect.stringMatching(/^evidence: .*25.* to .*1.*, back-tested at .*1.*/),
      expect.stringMatching(apply),
      expect.stringMatching(
        /^Show the command of the back-test:\s+kubectl promscaler status shop\/web --recommendations/,
      ),
    ]);
    expect(await part.getByRole('button', { name: /^Copy: / }).count()).toBe(isObject ? 2 : 1);
    expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);
  },
);
