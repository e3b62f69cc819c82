import { describe, expect, it } from '@jest/globals';
import { formatProblem } from '../../src/scaler/problems/problem.js';
import { readDocuments, readScalers, refuseDuplicates } from '../../src/scaler/read/read-scalers.js';

function documentText(name: string, spec = ''): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: shop }
spec:
  scaleTargetRef: { name: web }
  maxReplicas: 10
${spec}`;
}

describe('readScalers', () => {
  it('reads several documents of a file and skips empty ones', () => {
    const text = `---\n${documentText('a')}---\n# nothing\n---\n${documentText('b')}---\n`;

    const { scalers, problems } = readScalers(text, 'two.yaml');

    expect(problems).toEqual([]);
    expect(scalers.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('rejects only the invalid document', () => {
    const { scalers, problems } = readScalers(
      `${documentText('a', '  minReplicas: x\n')}---\n${documentText('b')}`,
      'two.yaml',
    );

    expect(scalers.map(({ name }) => name)).toEqual(['b']);
    expect(problems).toEqual([
      {
        code: 'wrong-type',
        severity: 'error',
        message: 'spec.minReplicas is "x", must be an integer',
        file: 'two.yaml',
        place: { line: 7, column: 16 },
        path: 'spec.minReplicas',
        sourceLine: '  minReplicas: x',
      },
    ]);
  });

  it.each([
    [1024 * 1024, []],
    [1024 * 1024 + 1, ['yaml-size']],
  ])('reads a file of %p bytes with the problems %p', (bytes, codes) => {
    const text = documentText('a');
    const { problems } = readScalers(`${text}${'#'.repeat(bytes - text.length)}`, 'big.yaml');

    expect(problems.map(({ code }) => code)).toEqual(codes);
  });

  it.each([
    ['flow lists', `a: ${'['.repeat(100_000)}`],
    ['flow objects', `a: ${'{a: '.repeat(100_000)}`],
    ['nested lists in one line', `${'- '.repeat(10_000)}a`],
    ['indented keys', Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')],
    [
      'indented keys with strings between them',
      Array.from({ length: 100 }, (_, depth) => {
        const indent = ' '.repeat(depth);
        return `${indent}t: |\n${indent}  text\n${indent}a:\n`;
      }).join(''),
    ],
  ])('survives a deeply nested string: %s', (_, text) => {
    expect(readScalers(text, 'deep.yaml').problems.map(({ code }) => code)).toEqual(['too-deep']);
  });

  it('does not count brackets in a query as nesting', () => {
    const query = `"${'['.repeat(200)}"`;
    const { problems } = readScalers(documentText('a', `  preset: ${query}\n`), 'a.yaml');

    expect(problems.map(({ code }) => code)).toEqual(['wrong-value']);
  });

  it('merges the defaults of the service config: objects by key, while scalars and lists of the document replace them', () => {
    const defaults = {
      minReplicas: 2,
      tolerance: 0.2,
      behavior: { scaleUp: { selectPolicy: 'Min' }, scaleDown: { stabilizationWindowSeconds: 60 } },
    };
    const spec = '  tolerance: 0.3\n  behavior: { scaleDown: { stabilizationWindowSeconds: 90 } }\n';

    const [scaler] = readScalers(documentText('a', spec), 'a.yaml', { defaults }).scalers;

    expect(scaler?.spec).toMatchObject({ minReplicas: 2, tolerance: 0.3 });
    expect(scaler?.spec.behavior?.scaleUp.selectPolicy).toBe('Min');
    expect(scaler?.spec.behavior?.scaleDown.stabilizationWindowSeconds).toBe(90);
    expect(scaler?.document.spec).toMatchObject({ minReplicas: 2, tolerance: 0.3 });
  });

  it('lets a document unset a default with null', () => {
    const defaults = { behavior: { scaleUp: { selectPolicy: 'Min' } } };

    const [scaler] = readScalers(documentText('a', '  behavior:\n'), 'a.yaml', { defaults }).scalers;

    expect(scaler?.spec.behavior).toBeNull();
  });

  it('locates a problem that comes from the defaults at the spec', () => {
    const { problems } = readScalers(documentText('a'), 'a.yaml', { defaults: { minReplicas: 11 } });

    expect(problems).toMatchObject([{ code: 'replica-bounds', place: { line: 4, column: 1 } }]);
  });
});

describe('a spec that is pasted', () => {
  it('from an autoscaling/v2 HorizontalPodAutoscaler is read without changes', () => {
    const spec = `  minReplicas: 2
  metrics:
    - type: ContainerResource
      containerResource:
        name: cpu
        container: app
        target: { type: Utilization, averageUtilization: 60 }
  behavior:
    scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: Max, tolerance: 50m }
    scaleDown:
      policies:
        - { type: Percent, value: 10, periodSeconds: 60 }
`;

    const { scalers, problems } = readScalers(documentText('a', spec), 'hpa.yaml');

    expect(problems).toEqual([]);
    expect(scalers[0]?.spec.behavior?.scaleUp.tolerance).toBe(0.05);
  });

  it('from a CHPA is read without changes, including its older forms of target and apiVersion', () => {
    const text = `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: chpa, namespace: shop }
spec:
  downscaleForbiddenWindowSeconds: 60
  upscaleForbiddenWindowSeconds: 15
  scaleUpLimitFactor: 2.0
  scaleUpLimitMinimum: 4
  tolerance: 0.1
  minReplicas: 1
  maxReplicas: 16
  metrics:
    - type: Resource
      resource: { name: cpu, targetAverageValue: 500m }
  scaleTargetRef: { apiVersion: extensions/v1beta1, kind: Deployment, name: web }
`;

    const { scalers, problems } = readScalers(text, 'chpa.yaml');

    expect(problems).toEqual([]);
    expect(scalers[0]?.spec).toMatchObject({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      metrics: [{ target: { type: 'AverageValue', milli: 500n } }],
      scaleUpLimit: { factor: 2, minimum: 4, isExplicit: true },
      upscaleForbiddenWindowSeconds: 15,
    });
  });
});

describe('refuseDuplicates', () => {
  const refused = (...files: readonly string[]) =>
    refuseDuplicates(
      files.flatMap((file) => [
        ...readDocuments(documentText('a'), file),
        ...readDocuments(documentText(file), 'b'),
      ]),
    );
  const messages = (documents: ReturnType<typeof refused>) =>
    documents.flatMap(({ problems }) => problems.map(({ file, message }) => `${file}: ${message}`));

  it('rejects both documents with the same name, also in two files, with one problem', () => {
    const documents = refused('one', 'two');

    expect(documents.map(({ scaler }) => scaler?.name ?? null)).toEqual([null, 'one', null, 'two']);
    expect(messages(documents)).toEqual([
      'one: shop/a is also in two:3: the service uses neither of the two; a version that is already in effect stays in effect. A file takes precedence over a Scaler object',
    ]);
  });

  it('names all others of 3 copies, and 5 of 7 others', () => {
    const seven = Array.from({ length: 8 }, (_, index) => `f${index}`);

    expect(messages(refused('one', 'two', 'three'))).toEqual([
      expect.stringMatching(/^one: shop\/a is also in two:3, three:3: the service uses none of them; /),
    ]);
    expect(messages(refused(...seven))).toEqual([
      expect.stringMatching(/^f0: shop\/a is also in f1:3, f2:3, f3:3, f4:3, f5:3 and 2 more: /),
    ]);
  });
});

describe('the problems of a document', () => {
  it('are in the order of their lines, whatever finds them', () => {
    const { problems } = readScalers(
      documentText('a', '  minReplicas: 11\n  unknown: 1\n  tolerance: 2\n').replace(
        'maxReplicas: 10',
        'maxReplicas: 0',
      ),
      'web.yaml',
    );

    const lines = problems.map(({ place }) => place?.line ?? 0);
    expect(lines.length).toBeGreaterThan(2);
    expect(lines).toEqual(lines.toSorted((a, b) => a - b));
  });
});

describe('formatProblem', () => {
  it('prints location, severity, message, code, and the line with a caret', () => {
    const [problem] = readScalers(documentText('a', '  minReplicas: 11\n'), 'web.yaml').problems;

    expect(formatProblem(problem!)).toBe(
      [
        'web.yaml:7:16: error: spec.minReplicas is 11, must be at most spec.maxReplicas (10) [replica-bounds]',
        '   7 |   minReplicas: 11',
        '     |                ^',
      ].join('\n'),
    );
  });

  it('truncates a long line around the caret and removes control characters', () => {
    const sourceLine = `${'x'.repeat(300)}\u001b[31m`;
    const text = formatProblem({
      code: 'wrong-type',
      severity: 'error',
      message: 'no',
      file: 'a.yaml',
      place: { line: 1, column: 301 },
      path: '',
      sourceLine,
    });

    expect(text.split('\n')[1]).toBe(`   1 | ...${'x'.repeat(60)}\ufffd[31m`);
    expect(text.split('\n')[2]).toBe(`     | ${' '.repeat(63)}^`);
  });
});
