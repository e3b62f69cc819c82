import { describe, expect, it } from '@jest/globals';
import { AT, failingService, serviceOf } from './support/answers.js';
import { until } from '../support/until.js';
import { useStage } from './support/stage.js';

const stage = useStage();

describe('the health page', () => {
  it('shows each part of a healthy service', async () => {
    const { page } = await stage.open({ service: () => serviceOf() }, { hash: '#/health' });

    await page.locator('.health-verdict.tone-good').nth(5).waitFor();
    const source = page.getByRole('row').filter({ hasText: 'default' });
    expect((await source.innerText()).split(/\s*\t\s*/)).toEqual([
      'default',
      'Reachable',
      '12.4 ms',
      '128,400',
      '0',
      '–',
      '–',
    ]);
    expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
      'Data sources',
      'Rounds',
      'API server',
      'Replicas of promscaler',
      'Last changes',
    ]);
  });

  it('shows an invalid document with its line and the caret below the column', async () => {
    const { page } = await stage.open({ service: () => failingService() }, { hash: '#/health' });

    await page.getByText('config/scalers/web.yaml:9').waitFor();
    const lines = (await page.locator('.health-excerpt').innerText()).split('\n');
    expect(lines[2]?.indexOf('^')).toBe(lines[1]?.indexOf('maxReplica'));
    await page.getByText('kubectl-client-side-apply replaces spec.replicas again and again').waitFor();
    await page.getByText('prometheus.monitoring:9090: connection refused').waitFor();
  });

  it('has the lines about the service without their link to this page', async () => {
    const { page } = await stage.open({ service: () => failingService() }, { hash: '#/health' });
    const lines = page.locator('.service-line');

    await lines.getByText(/^Data source default .* 214 scalers keep their replicas$/).waitFor();
    expect(await lines.getByRole('link').count()).toBe(0);
    await page.getByRole('link', { name: 'Scalers' }).click();
    await lines.getByRole('link', { name: /^and \d more problems$/ }).waitFor();
  });

  it('shows times in the zone of the viewer, and UTC on hover', async () => {
    const at = '2026-01-05T22:30:00Z';
    const outcome = { kind: 'patched' as const, from: 3, to: 4, message: 'scaled' };
    const { page } = await stage.open(
      { service: () => serviceOf({ lastOutcomes: [{ namespace: 'a', name: 'b', at, outcome }] }) },
      { hash: '#/health', at: '2026-01-10T12:00:00Z' },
    );

    const time = page.getByText('Jan 5, 23:30:00');
    expect(await time.getAttribute('title')).toBe('Jan 5, 23:30:00 GMT+1, 2026-01-05 22:30:00 UTC');
  });

  it('shows the times in messages in the zone of the viewer, too', async () => {
    const since = '2026-01-05T22:30:00Z';
    const lastError = { at: since, message: `no answer since ${since}` };
    const outcome = { kind: 'failed' as const, from: 3, to: 4, message: `postponed until ${since}` };
    const conflict = { namespace: 'shop', name: 'web', message: `a client writes since ${since}` };
    const service = serviceOf({
      lastOutcomes: [{ namespace: 'a', name: 'b', at: since, outcome }],
      conflicts: [conflict],
    });
    const kubernetes = { ...service.kubernetes, lastError };
    const { page } = await stage.open(
      { service: () => ({ ...service, kubernetes }) },
      { hash: '#/health', at: '2026-01-10T12:00:00Z' },
    );

    for (const text of ['no answer since', 'postponed until', 'a client writes since'])
      await page.getByText(`${text} Jan 5, 23:30:00`).waitFor();
    expect(await page.locator('main').innerText()).not.toContain('T22:30:00Z');
    const exact = await page.locator('.health-problems time').getAttribute('title');
    expect(exact).toBe('Jan 5, 23:30:00 GMT+1, 2026-01-05 22:30:00 UTC');
  });

  it('reads again after a reload of the documents', async () => {
    const { page, service } = await stage.open({ service: () => serviceOf() }, { hash: '#/health', at: AT });
    await page.getByText('Live', { exact: true }).waitFor();
    await until(() => service.streams.length === 1, 'the event stream');
    service.answer({ service: () => failingService() });

    service.send('reload', { at: '2026-01-01T00:00:00Z', scalers: 1, errors: 1 });

    await page.getByText('config/scalers/web.yaml:9').waitFor();
  });
});
