import { describe, expect, it } from '@jest/globals';
import { type Ran, runCli } from '../fake-io.js';

/** An HPA as an item of a list in the form of kubectl. */
function item(name: string, more = ''): string {
  return `- apiVersion: autoscaling/v2
  kind: HorizontalPodAutoscaler
  metadata:
    name: ${name}
    namespace: shop
    annotations:
      note: |
        items:

        - kind: List
  spec:
    maxReplicas: 5
    scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${name} }
${more}`;
}

function list(items: readonly string[], kind = 'List'): string {
  return `apiVersion: v1\nitems:\n${items.join('')}kind: ${kind}\nmetadata:\n  resourceVersion: ""\n`;
}

const runImport = (text: string): Promise<Ran> =>
  runCli(['import', '-'], { stdin: text, env: { KUBECONFIG: '/nonexistent' } });

const namesIn = ({ stdout }: Ran): readonly (string | undefined)[] =>
  Array.from(stdout.matchAll(/^ {2}name: (.*)$/gm), ([, name]) => name);

describe('import of a list of kubectl', () => {
  it('reads the items without their list, block scalars included', async () => {
    const ran = await runImport(list([item('a'), item('b')]));

    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(namesIn(ran)).toEqual(['a', 'b']);
    expect(ran.stdout.match(/- kind: List$/gm)).toHaveLength(2);
  });

  it('reads typed lists, several lists, and lists whose items come last', async () => {
    const typed = list(
      [item('a').replace(/^- .*\n {2}kind: .*\n {2}/, '- ')],
      'HorizontalPodAutoscalerList',
    ).replace('apiVersion: v1', 'apiVersion: autoscaling/v2');
    const last = `apiVersion: v1\nkind: List\nitems:\n${item('c')}`;

    const ran = await runImport(`${typed}---\n${list([item('b')])}---\n${last}`);

    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(namesIn(ran)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['a syntax error', '    bad: [\n', /-:30:1: error: not YAML/, ['a', 'c']],
    ['a key twice', '    maxReplicas: 6\n', /-:29:5: error: this key appears twice/, ['a', 'b', 'c']],
  ])('with %s in an item keeps the others, and names the line', async (_, more, error, names) => {
    const ran = await runImport(list([item('a'), item('b', more), item('c')]));

    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toMatch(error);
    expect(namesIn(ran)).toEqual(names);
  });

  it('that is truncated has all its whole items', async () => {
    const text = list([item('a'), item('b')]);
    const ran = await runImport(text.slice(0, text.lastIndexOf('maxReplicas')));

    expect(ran.exitCode).toBe(1);
    expect(namesIn(ran)).toEqual(['a']);
  });
});
