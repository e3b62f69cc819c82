import { describe, expect, it } from '@jest/globals';
import { demoDocuments, demoServiceConfig } from '../../../src/cli/demo/documents.js';
import { folderOf, runCli } from '../fake-io.js';

describe('the documents of the demo', () => {
  it.each([1, 5, 60])('cause no warning from validate at speed %i', async (speed) => {
    const { files, objects } = demoDocuments(speed);
    const cwd = folderOf({
      'promscaler.yaml': demoServiceConfig({
        prometheusUrl: 'http://127.0.0.1:1',
        kubeconfig: 'kubeconfig',
        port: 8080,
      }),
      'objects.yaml': objects.join('---\n'),
      ...Object.fromEntries([...files].map(([name, text]) => [`scalers/${name}`, text])),
    });

    const ran = await runCli(['validate', 'promscaler.yaml', 'scalers', 'objects.yaml'], { cwd });

    expect(ran).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^without --live, validate does not check [^\n]*\n1 service config, 3 documents, 0 errors, 0 warnings\n$/,
      ),
      stderr: '',
    });
  });
});
