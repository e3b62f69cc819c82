import { expect, test } from '@jest/globals';
import { findBarriers, overflowOf } from './support/browser.js';
import { HEALTHY } from './support/scaler-stories.js';
import { tellStory } from './support/scaler-story.js';
import { useStage } from './support/stage.js';

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
  await part.getByText('spec.maxReplicas: 20 -> -1').waitFor();
  await part.getByRole('button', { name: 'As YAML' }).click();

  expect(await part.locator('pre').innerText()).toBe(TEXT);
  expect(await part.locator('.hint').innerText()).toBe(
    'The rejected version, as in /etc/promscaler/scalers/web.yaml',
  );
  expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);
});
