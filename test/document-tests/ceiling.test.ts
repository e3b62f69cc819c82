import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../cli/fake-io.js';
import { scalerYaml } from '../support/scaler-yaml.js';

async function outputOf(field: string, expectation: string, spec: string): Promise<string> {
  const test = `scalers: [web.yaml]
tests:
  - name: one
    replicas: 4
    series: [{ metric: cpu, values: 140x60 }]
    carryOut: false
${field === '' ? '' : `    ${field}\n`}    expect: [${expectation}]
`;
  const cwd = folderOf({ 'web.yaml': `${scalerYaml()}${spec}`, 'web.test.yaml': test });
  const { stdout, stderr } = await runCli(['test', 'web.test.yaml'], { cwd });
  return stdout + stderr;
}

const CEILING = '  maxReplicasFrom: { query: sum(free_gpus) }\n';
const LIMITED = 'limits: [max_replicas_from]';

describe('maxReplicasFrom of a test', () => {
  it('limits a scale-up to the value of the minute, and then to the last one', async () => {
    const expectation = `{ at: 1m, replicas: 7, ${LIMITED} }, { at: 3m, replicas: 6, ${LIMITED} }`;

    expect(await outputOf('maxReplicasFrom: 7x1 6 _', expectation, CEILING)).toContain('1 passed');
  });

  it('is 0 for 61 minutes with 0x60, which is no hexadecimal number', async () => {
    const expectation = `{ at: 1m, replicas: 4, ${LIMITED} }`;

    expect(await outputOf('maxReplicasFrom: 0x60', expectation, CEILING)).toContain('1 passed');
  });

  it('limits nothing without a value', async () => {
    expect(await outputOf('', '{ at: 1m, replicas: 8 }', CEILING)).toContain('1 passed');
    expect(await outputOf('maxReplicasFrom: _', '{ at: 0s, replicas: 8 }', CEILING)).toContain('1 passed');
  });

  it.each([
    [
      'maxReplicasFrom: 7',
      '',
      'tests[0].maxReplicasFrom is set, but the scaler document has no maxReplicasFrom',
    ],
    ['maxReplicasFrom: seven', CEILING, 'tests[0].maxReplicasFrom has "seven", must consist of values'],
  ])('is rejected: %s', async (field, spec, message) => {
    expect(await outputOf(field, '{ at: 1m, replicas: 4 }', spec)).toContain(message);
  });
});
