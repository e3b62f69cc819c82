import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import type { ScalerDetail } from '../../src/api/answers.js';
import { parseScaler } from '../../src/scaler/read/parse-scaler.js';
import { findBarriers, launchBrowser, openPage } from './support/browser.js';
import type { Watched } from './support/browser.js';
import { startFakeService } from './support/fake-service.js';
import type { FakeAnswers, FakeService } from './support/fake-service.js';
import { tellStory } from './support/scaler-story.js';
import { AT_MAXIMUM } from './support/scaler-stories.js';

let browser: Browser;
let service: FakeService;
let watched: Watched;
let detail: ScalerDetail;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterEach(async () => {
  await watched.close();
  await service.close();
});
afterAll(() => browser.close());

async function open(): Promise<void> {
  const others: NonNullable<FakeAnswers['others']> = tellStory(AT_MAXIMUM);
  detail = others['scalers/shop/web']?.(new URL('http://fake')) as ScalerDetail;
  service = await startFakeService({ answers: { others } });
  watched = await openPage(browser, `${service.url}#/scalers/shop/web`);
  page = watched.page;
  await page.getByRole('button', { name: 'Try another document' }).click();
  await page.locator('.what-if').waitFor();
}

/** Returns the summary, in which an arrow and its counts stay in one line. */
async function summary(): Promise<string> {
  return (await page.locator('.what-if-summary').innerText()).replaceAll('\u00a0', ' ');
}

test('the unchanged document gives the decision of the service', async () => {
  await open();
  const text = await page.locator('.what-if-decision').innerText();
  expect(text).toContain('cpu is at 120 % of the requests, target 60 %');
  expect(text).not.toContain('max_replicas');
  expect(await summary()).toBe(
    'Without a change: stays at 5. Change a field to see how the decision changes.',
  );
});

test('a changed field gives another decision, and nothing is sent', async () => {
  await open();
  const sent = (): readonly string[] => service.requests.filter((path) => path.includes('snapshot'));
  const before = sent().length;
  await page.getByLabel('maxReplicas', { exact: true }).fill('12');
  expect(await summary()).toBe('Without a change: stays at 5. With the change: 5 → 10.');
  await page.getByLabel('cpu: target.averageUtilization').fill('300');
  // The recommendations of the last five minutes are from the real document.
  expect(await summary()).toBe('Without a change: stays at 5. With the change: 5 → 10.');
  await page.getByText('were made with the real document').waitFor();
  await page.getByText('Limits and windows').click();
  await page.getByLabel('downscaleStabilizationSeconds').fill('0');
  expect(await summary()).toBe('Without a change: stays at 5. With the change: 5 → 3.');
  await page.getByRole('button', { name: 'Reset' }).click();
  expect(await page.getByLabel('maxReplicas', { exact: true }).inputValue()).toBe('5');
  expect(sent()).toHaveLength(before);
  expect(watched.faults).toEqual([]);
});

test('the shown history is repeated with the change and without it, and the figures are compared', async () => {
  await open();
  await page.getByLabel('maxReplicas', { exact: true }).fill('12');
  await page.getByRole('button', { name: 'Repeat the shown history with the change' }).click();
  const past = page.locator('.what-if-past');
  const difference = past.locator('p b');
  await difference.waitFor();
  expect(await difference.innerText()).toMatch(
    /^With the change: [\d.]+ pod-hours instead of [\d.]+ \(\d+ % more\); .* limited by maxReplicas in 0 % of the decisions instead of [\d.]+ %; /,
  );
  const rows = past.getByRole('table').getByRole('row');
  expect((await rows.nth(2).innerText()).split(/\s+/)).toEqual(['Highest', 'replicas', '10', '5', '5']);
  await past.locator('canvas').waitFor();

  const asked = service.requests.length;
  await page
    .getByLabel(/^maxReplicas/)
    .first()
    .fill('7');
  await past.getByRole('cell', { name: '7', exact: true }).waitFor();
  expect((await rows.nth(2).innerText()).split(/\s+/)).toEqual(['Highest', 'replicas', '7', '5', '5']);
  expect(service.requests.slice(asked).filter((path) => /history|snapshot/.test(path))).toEqual([]);
  expect([await findBarriers(page), watched.faults]).toEqual([[], []]);
});

test('a change without a history says why, and does not guess', async () => {
  await open();
  await page.getByText('The whole document as YAML or JSON').click();
  const area = page.locator('textarea');
  const text = await area.inputValue();
  const more = 'external: { metric: { name: other }, query: sum(other), target: { averageValue: 1 } }';
  await area.fill(
    text.replace(/^( *)metrics:\n/m, (line, indent: string) => `${line}${indent}  - ${more}\n`),
  );
  await page.getByRole('button', { name: 'Repeat the shown history with the change' }).click();
  await page.getByText('Not possible here: metric other: the history has no values.').waitFor();
  expect(watched.faults).toEqual([]);
});

test('a change of a file is shown as YAML to paste, and that of an object as a patch', async () => {
  await open();
  await page.getByLabel('maxReplicas', { exact: true }).fill('12');
  const patch = page.locator('.what-if-apply');
  await patch.getByText('maxReplicas: 12').waitFor();
  expect((await patch.locator('p').innerText()).replace(/\s+/g, ' ')).toBe(
    'Apply spec.maxReplicas: 5 → 12. In the file, set:',
  );
  expect(await patch.locator('code').innerText()).toBe('spec:\n  maxReplicas: 12');
  await page.getByLabel('minReplicas').fill('20');
  await page.getByText('promscaler would reject this document').waitFor();
  expect(await patch.count()).toBe(0);

  service.answer({
    others: { ...tellStory(AT_MAXIMUM), 'scalers/shop/web': () => ({ ...detail, generation: 3 }) },
  });
  await page.reload();
  await page.getByRole('button', { name: 'Try another document' }).click();
  await page.getByLabel('maxReplicas', { exact: true }).fill('12');
  expect(await patch.locator('code').innerText()).toBe(
    `kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"maxReplicas":12}}'`,
  );
  expect(await findBarriers(page)).toEqual([]);
});

test('a problem is at its field, in the words of validate', async () => {
  await open();
  const field = page.getByLabel('minReplicas');
  await field.fill('6');
  const { document } = detail;
  const spec = document['spec'] as Readonly<Record<string, unknown>>;
  const [problem] = parseScaler({ ...document, spec: { ...spec, minReplicas: 6 } }).problems;
  const described = (await field.getAttribute('aria-describedby')) ?? '';
  expect(await page.locator(`[id="${described}"]`).innerText()).toContain(
    `error: ${problem?.message ?? ''} [replica-bounds]`,
  );
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect(await summary()).toBe('Without a change: stays at 5. With the change: rejected.');
  await field.fill('six');
  expect(await page.locator(`[id="${described}"]`).innerText()).toContain(
    'spec.minReplicas is "six", must be',
  );
  expect(await findBarriers(page)).toEqual([]);
});

test('policies and windows of behavior', async () => {
  await open();
  await page.getByLabel('maxReplicas', { exact: true }).fill('12');
  const group = page.locator('details', { has: page.getByText('behavior.scaleUp') });
  await group.locator('summary').click();
  await group.getByLabel('policies[0].type').selectOption('Pods');
  await group.getByLabel('policies[0].value').fill('1');
  await group.getByLabel('policies[0].periodSeconds').fill('60');
  expect(await summary()).toBe('Without a change: stays at 5. With the change: 5 → 6.');
});

test('the document as text: YAML and JSON, and line and caret of an error', async () => {
  await open();
  await page.getByText('The whole document as YAML or JSON').click();
  const area = page.locator('textarea');
  await area.fill((await area.inputValue()).replace('maxReplicas: 5', 'maxReplicas: 12'));
  expect(await summary()).toBe('Without a change: stays at 5. With the change: 5 → 10.');
  expect(await page.getByLabel('maxReplicas', { exact: true }).inputValue()).toBe('12');
  await area.fill((await area.inputValue()).replace('maxReplicas: 12', 'maxReplica: 12'));
  const problems = page.locator('.text-editor pre');
  await problems.first().waitFor();
  const texts = await problems.allInnerTexts();
  expect(texts.join('\n')).toMatch(
    /document:\d+:\d+: error: spec\.maxReplica is not a known field; did you mean/,
  );
  expect(texts.join('\n')).toContain('^');
  await area.fill(JSON.stringify(detail.document));
  expect(await summary()).toBe(
    'Without a change: stays at 5. Change a field to see how the decision changes.',
  );
  await area.fill('a: [');
  await problems.first().waitFor();
  expect(watched.faults).toEqual([]);
  expect(await findBarriers(page)).toEqual([]);
});
