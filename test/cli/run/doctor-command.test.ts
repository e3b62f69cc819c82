import { expect, it } from '@jest/globals';
import { doctorCommand } from '../../../src/cli/commands/run-service.js';

const CONFIG = '/etc/promscaler/config/promscaler.yaml';

it('runs doctor in the pod of the service, with its config', () => {
  const doctorOf = doctorCommand(
    { configFile: CONFIG, dryRun: true },
    { namespace: 'monitoring', pod: 'promscaler-0' },
  );

  expect(doctorOf('shop/web')).toBe(
    `kubectl exec -n monitoring promscaler-0 -- promscaler doctor shop/web --config ${CONFIG} --dry-run`,
  );
});

it('runs doctor here outside of a cluster', () => {
  expect(doctorCommand({ configFile: null, dryRun: false }, null)('shop/web')).toBe(
    'promscaler doctor shop/web',
  );
});
