import { join } from 'node:path';

const DIST = join(import.meta.dirname, '../../dist/cli');

/**
 * Downloads Prometheus once, with the built program, before the tests of several workers need it: otherwise each of
 * them would download it, within the time limit of a test. A failure is reported by those tests.
 */
export async function fetchPrometheus() {
  const [{ findPrometheus }, { SYSTEM_CLOCK: clock }] = await Promise.all([
    import(join(DIST, 'demo/programs/prometheus-release.js')),
    import(join(DIST, 'system-clock.js')),
  ]);
  const { env, stderr } = process;
  const report = (line) => stderr.write(`${line}\n`);
  await findPrometheus({ env, clock, report }).catch(() => undefined);
}
