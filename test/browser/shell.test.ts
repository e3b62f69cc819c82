import { describe, expect, it } from '@jest/globals';
import { AT, after, failingService, overviewOf, rowOf, serviceOf } from './support/answers.js';
import { until } from '../support/until.js';
import { useStage } from './support/stage.js';

const stage = useStage();

describe('the line below the header', () => {
  it('is on every page in trouble, and goes away with it', async () => {
    const answers = { overview: () => overviewOf([rowOf()]), service: () => failingService() };
    const { page, service } = await stage.open(answers, { at: AT });
    const text =
      /Data source default \(http:\S+\) has answered no query since .* \(1\d min\): 214 scalers keep their replicas/;
    await page.getByText(text).waitFor();
    await page.getByRole('link', { name: /more problems/ }).click();
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    await page.getByText(text).waitFor();
    await until(() => service.streams.length === 1, 'the event stream');
    service.answer({ service: () => serviceOf() });

    service.send('reload', { at: after(1), scalers: 3, errors: 0 });

    await page.locator('.service-line').waitFor({ state: 'detached' });
    await page.locator('.connection', { hasText: /^Live· last round \d\d:\d\d:\d\d$/ }).waitFor();
  });
});

describe('the header on a phone', () => {
  it('says what is live in one line', async () => {
    const answers = { overview: () => overviewOf([rowOf()]), service: () => serviceOf() };
    const { page } = await stage.open(answers, { width: 390, height: 844, at: AT });
    await page.getByText('Live', { exact: true }).waitFor();

    expect((await page.locator('.header').boundingBox())?.height).toBeLessThan(60);
    expect(await page.locator('.connection').innerText()).toMatch(/^Live\s\d\d:\d\d:\d\d$/);
  });
});
