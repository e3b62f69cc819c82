import { describe, expect, it } from '@jest/globals';
import { cleanStream } from '../../../src/cli/output/io.js';
import { drawScreen } from '../../../src/cli/status/run-status.js';
import { folderOf, runCli } from '../fake-io.js';

function written(text: string): string {
  let output = '';
  cleanStream({ isTerminal: true, write: (chunk) => (output += chunk) }).write(text);
  return output;
}

describe('the output of a command', () => {
  it.each([
    ['a title of the terminal', '\u001b]0;owned\u0007', '\\u001b]0;owned\\u0007'],
    ['a cleared screen', 'a\u001b[2Jb\u001b[Hc', 'a\\u001b[2Jb\\u001b[Hc'],
    ['concealed text', '\u001b[8mhidden', '\\u001b[8mhidden'],
    ['a line that is overwritten', 'error\rfine', 'error\\u000dfine'],
    ['text from right to left', 'web\u202egnp', 'web\\u202egnp'],
  ])('shows %s as an escape', (_, text, expected) => {
    expect(written(text)).toBe(expected);
  });

  it.each([
    ['colors', '\u001b[31mfailed\u001b[39m \u001b[1mbold\u001b[22m'],
    ['a progress line', '\r\u001b[K3 of 5'],
    ['a screen', drawScreen(['NAME', 'web'], { rows: 20, columns: 80 })],
    ['ordinary text', 'naïve\t検索\n'],
  ])('keeps %s', (_, text) => {
    expect(written(text)).toBe(text);
  });

  it('of import shows escapes of a manifest as text', async () => {
    const manifest = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: "web\\u001b[2J", namespace: shop, annotations: { note: "\\u202e\\u009b31m" } }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: "Deploy\\u001b]0;x\\u0007ment", name: web }
  minReplicas: 1
  maxReplicas: "\\u001b[31m"
  metrics: [{ type: "Odd\\u009b2J\\u202e" }]
`;
    const cwd = folderOf({ 'hpa.yaml': manifest });

    const { stdout, stderr } = await runCli(['import', 'hpa.yaml'], { cwd });

    expect(stdout + stderr).not.toBe('');
    // eslint-disable-next-line no-control-regex -- no such character may be left
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  });
});
