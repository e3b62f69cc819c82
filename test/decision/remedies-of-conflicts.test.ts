import { describe, expect, it } from '@jest/globals';
import { NAMED, remediesFor, serveStates } from './remedies-fixture.js';

describe('what to do about a conflict, a dry run or a rejected document', () => {
  serveStates();

  it('is the deletion of the HPA that the conflict names', async () => {
    const [first] = await remediesFor(NAMED.find(({ state }) => state === 'Conflict')?.what ?? '');

    expect(first).toBe(
      'To keep this scaler, delete HorizontalPodAutoscaler shop/web: kubectl delete -n shop hpa web',
    );
  });

  it('is the deletion of the HPA, or a comparison in dry run, for an object whose conflict it is', async () => {
    const [first, second] = await remediesFor(NAMED.find(({ state }) => state === 'Conflict')?.what ?? '', {
      generation: 3,
      name: 'web',
    });

    expect(first).toMatch(/^To keep this scaler, delete HorizontalPodAutoscaler/);
    expect(second).toBe(
      `Or first compare the two autoscalers in dry run: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"dryRun":true}}'`,
    );
  });

  it('is no comparison with an HPA that has no count, but its repair', async () => {
    const otherScaler = {
      kind: 'HorizontalPodAutoscaler',
      namespace: 'shop',
      name: 'web',
      whyNoCount: 'no metrics',
    };

    expect(await remediesFor('another autoscaler', { generation: 3, otherScaler })).toEqual([
      'To keep this scaler, delete HorizontalPodAutoscaler shop/web: kubectl delete -n shop hpa web',
      'Find out why the HPA has no desired replicas: kubectl describe -n shop hpa web',
    ]);
  });

  it('is a pause or other bounds if a person runs kubectl scale, and names where the client is recorded', async () => {
    const what = 'another client, at the maximum';
    const audit =
      'If a tool applies a manifest, remove replicas from it, or configure the tool to ignore the field (Argo CD: ignoreDifferences). The audit log of the API server has the requests';
    const person =
      'If a person sets the count (kubectl scale), pause the scaler first, or change spec.minReplicas or spec.maxReplicas';
    // Two clients change the count, so no count can be named.
    const keep = expect.stringMatching(/^Stop scaling for 30 minutes meanwhile: promscaler pause /);

    expect(await remediesFor(what, { name: 'web', generation: 3 })).toEqual([
      `${person}: kubectl edit -n shop scalers.promscaler.dev web`,
      `${audit}, with the field manager kubectl`,
      keep,
    ]);
    expect(await remediesFor(what, { conflictingWriter: { managers: [] } })).toEqual([person, audit, keep]);
    expect(await remediesFor(what, { conflictingWriter: { managers: ['argocd-controller'] } })).toEqual([
      expect.stringMatching(/^Stop argocd-controller: remove spec\.replicas .* ignoreDifferences: /),
      keep,
    ]);
  });

  it('is a pause that keeps the count of a webhook, not the one before', async () => {
    const outcome = { kind: 'replaced', from: 4, to: 5 };

    expect((await remediesFor('a webhook', { outcome })).at(-1)).toMatch(
      /^Keep 5 replicas for 30 minutes meanwhile: promscaler pause /,
    );
  });

  it.each([
    ['HorizontalPodAutoscaler', 'hpa/web'],
    ['ScaledObject', 'scaledobject/web'],
  ])('is adopt for an object in dry run next to a %s, which can be undone', async (kind, name) => {
    const lines = await remediesFor('a dry run next to another document', {
      generation: 3,
      otherScaler: { kind, namespace: 'shop', name: 'web' },
      document: { spec: { dryRun: true } },
    });

    expect(lines).toEqual([
      `Compare with ${kind} shop/web: promscaler adopt ${name} -n shop --report`,
      `If the report allows it, replace the ${kind} in one step, which adopt --undo reverts: promscaler adopt ${name} -n shop --switch`,
    ]);
  });

  it('is first the dry run of a second scaler next to the HPA, without which adopt switches nothing', async () => {
    const scaler = { namespace: 'shop', name: 'other', file: null };
    const lines = await remediesFor('a dry run next to another document', {
      generation: 3,
      otherScaler: { kind: 'HorizontalPodAutoscaler', namespace: 'shop', name: 'web', scaler },
      document: { spec: { dryRun: true } },
    });

    expect(lines).toEqual([
      `Two scalers of one target are in conflict after the dry run. To keep this one, put shop/other in dry run: kubectl patch -n shop scalers.promscaler.dev other --type=merge -p '{"spec":{"dryRun":true}}'`,
      'Compare with HorizontalPodAutoscaler shop/web: promscaler adopt hpa/web -n shop --report',
      'If the report allows it, replace the HorizontalPodAutoscaler in one step, which adopt --undo reverts: promscaler adopt hpa/web -n shop --switch',
    ]);
  });

  it('is the repair of an HPA without a count, or a forced switch, because there is nothing to compare', async () => {
    const what = 'a dry run next to an HPA without a count';
    const document = { spec: { dryRun: true } };
    const why = 'Find out why the HPA has no desired replicas: kubectl describe -n shop hpa web';

    expect(await remediesFor(what, { generation: 3, document })).toEqual([
      why,
      'End the dry run; the command checks the service first: promscaler adopt hpa/web -n shop --switch --force',
    ]);
    expect(await remediesFor(what, { name: 'web', file: 'web.yaml', document })).toEqual([
      why,
      'To keep this scaler, delete HorizontalPodAutoscaler shop/web: kubectl delete -n shop hpa web',
      'Then apply the decisions. In web.yaml, set: dryRun: false',
    ]);
  });

  it('is the end of the dry run for an object whose HPA is gone', async () => {
    const lines = await remediesFor('a dry run next to another document', {
      name: 'web',
      generation: 3,
      otherScaler: null,
      document: { spec: { dryRun: true } },
    });

    expect(lines).toEqual([
      `Apply the decisions: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"dryRun":false}}'`,
    ]);
  });

  const adopted = (from: string) => ({
    metadata: { annotations: { 'promscaler.dev/adopted-from': from } },
    spec: { dryRun: true },
  });
  const NO_COUNT = {
    kind: 'HorizontalPodAutoscaler',
    namespace: 'shop',
    name: 'web',
    whyNoCount: 'none yet',
  };

  const PERHAPS_PAUSED =
    'See whether the ScaledObject is paused in KEDA, which prevents a switch: promscaler adopt scaledobject/web -n shop --report';

  it.each([
    [
      'HPA is new',
      { otherScaler: NO_COUNT, document: { spec: { dryRun: true } } },
      'HorizontalPodAutoscaler shop/web has desired replicas: kubectl get -n shop hpa web --watch',
    ],
  ])(
    'is to wait in the first minute of a dry run whose %s, which --report refuses',
    async (_, fields, wait) => {
      const what = 'a dry run next to another document';

      expect(await remediesFor(what, { generation: 3, ...fields })).toEqual([`Wait until ${wait}`]);
    },
  );

  it.each([
    ['HorizontalPodAutoscaler/web', 'HorizontalPodAutoscaler shop/web', 'hpa/web'],
    ['ScaledObject/web', 'HPA of ScaledObject shop/web', 'scaledobject/web'],
  ])(
    'is in the first minute without a known autoscaler the report, which knows if it exists: %s',
    async (from, what, name) => {
      const fields = { generation: 3, otherScaler: null, document: adopted(from) };

      expect(await remediesFor('a dry run next to another document', fields)).toEqual([
        `The service sees no ${what}. See whether it is new or does not exist: promscaler adopt ${name} -n shop --report`,
      ]);
    },
  );

  it.each(['a dry run next to another document', 'a dry run next to an HPA without a count'])(
    'is the deletion of one of two HPAs, which scale nothing together, and no switch: %s',
    async (what) => {
      const second = { ...NO_COUNT, name: 'second' };
      const fields = { otherScaler: { ...NO_COUNT, second }, document: { spec: { dryRun: true } } };
      const steps = [
        'To keep HorizontalPodAutoscaler shop/web, delete HorizontalPodAutoscaler shop/second: kubectl delete -n shop hpa second',
        'To keep HorizontalPodAutoscaler shop/second, delete HorizontalPodAutoscaler shop/web: kubectl delete -n shop hpa web',
      ];

      for (const more of [{ generation: 3 }, { file: 'web.yaml' }])
        expect(await remediesFor(what, { ...fields, ...more })).toEqual(steps);
    },
  );

  it('is the deletion of both HPAs for a scaler in conflict with two', async () => {
    const second = { kind: 'ScaledObject', namespace: 'shop', name: 'second' };
    const otherScaler = { ...NO_COUNT, second };

    expect(await remediesFor('another autoscaler', { generation: 3, otherScaler })).toEqual([
      'To keep this scaler, delete HorizontalPodAutoscaler shop/web: kubectl delete -n shop hpa web',
      'To keep this scaler, delete ScaledObject shop/second: kubectl delete -n shop scaledobject second',
    ]);
  });

  it.each([
    [
      { otherScaler: NO_COUNT, document: { spec: { dryRun: true } } },
      [
        'Find out why the HPA has no desired replicas: kubectl describe -n shop hpa web',
        'End the dry run; the command checks the service first: promscaler adopt hpa/web -n shop --switch --force',
      ],
    ],
    [
      { otherScaler: null, document: adopted('HorizontalPodAutoscaler/web') },
      [
        'End the dry run; the command checks the service first: promscaler adopt hpa/web -n shop --switch',
        'Or create HorizontalPodAutoscaler shop/web again, if adopt has saved its manifest: promscaler adopt hpa/web -n shop --undo',
      ],
    ],
    [
      { otherScaler: null, document: adopted('ScaledObject/web') },
      [
        'See whether the ScaledObject exists, and why KEDA has created no HPA: kubectl describe -n shop scaledobject web',
        PERHAPS_PAUSED,
      ],
    ],
  ])('is, after the end of a pause in dry run, the same as without the pause: %j', async (fields, steps) => {
    const [end, ...others] = await remediesFor('a pause at a fixed count in dry run', {
      generation: 3,
      ...fields,
    });

    expect(end).toMatch(/^End the pause: promscaler resume /);
    expect(others).toEqual(steps);
  });

  it('is only the search for the value of a metric in a dry run without one', async () => {
    const lines = await remediesFor('a dry run without data');

    expect(lines[0]).toMatch(/^Run doctor to find the fix/);
    expect(lines.join()).not.toMatch(/delete|"?dryRun"?:/i);
  });

  it('is an edit of an invalid object', async () => {
    const [first] = await remediesFor('no series', {
      name: 'web',
      generation: 3,
      rejections: [{ code: 'wrong-value', file: 'scalers.promscaler.dev/shop/web', line: null }],
    });

    expect(first).toBe(
      'Correct the document, and apply it again: kubectl edit -n shop scalers.promscaler.dev web',
    );
  });

  it('is the deletion of one of two files with the same name', async () => {
    const [first] = await remediesFor('no series', {
      name: 'web',
      rejections: [{ code: 'duplicate-document', file: '/etc/promscaler/scalers/web.yaml', line: null }],
    });

    expect(first).toBe('Delete one of the documents with this name');
  });

  const UNUSED = { code: 'duplicate-document', file: 'scalers.promscaler.dev/shop/web', line: null };

  it('is, for an object next to a file with the same name, the deletion of the object or of the document in the file', async () => {
    const lines = await remediesFor('a rejected version', {
      name: 'web',
      file: '/etc/promscaler/scalers/web.yaml',
      rejections: [{ code: 'wrong-value', file: UNUSED.file, line: null }, UNUSED],
    });

    expect(lines).toEqual([
      'To keep the document in /etc/promscaler/scalers/web.yaml, delete the object with the same name: kubectl delete -n shop scalers.promscaler.dev web',
      'To keep the object, remove shop/web from /etc/promscaler/scalers/web.yaml',
    ]);
  });

  it.each([null, 3])(
    'is first the correction of an invalid file next to an object, if generation %p of the object is in effect',
    async (generation) => {
      const file = '/etc/promscaler/scalers/web.yaml';
      const lines = await remediesFor('a rejected version', {
        name: 'web',
        generation,
        file: generation === null ? file : null,
        rejections: [UNUSED, { code: 'wrong-value', file, line: 4 }],
      });

      expect(lines).toEqual([
        `Correct ${file}, line 4, and validate it: promscaler validate ${file}`,
        expect.stringContaining(`To keep the document in ${file}, delete the object`),
        `To keep the object, remove shop/web from ${file}`,
      ]);
    },
  );

  it('deletes no scaler that scales the target of a dry run', async () => {
    const lines = await remediesFor('a dry run next to another document', {
      document: { spec: { dryRun: true } },
    });

    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(
        /^If this scaler is for another workload, which promscaler does not scale now, correct spec\.scaleTargetRef/,
      ),
      'Compare with the scaler of the target: promscaler explain shop/other',
      `To let this scaler scale, put shop/other in dry run, with this command or in its file: kubectl patch -n shop scalers.promscaler.dev other --type=merge -p '{"spec":{"dryRun":true}}'`,
    ]);
    expect(lines[3]).toMatch(/^Then apply the decisions/);
    expect(lines).toHaveLength(4);
  });

  it('is, between two scalers, the deletion of either', async () => {
    const lines = await remediesFor(NAMED.find(({ state }) => state === 'Conflict')?.what ?? '', {
      name: 'web',
      generation: 3,
      otherScaler: { kind: 'Scaler', namespace: 'shop', name: 'other' },
    });

    expect(lines).toEqual([
      'If this scaler is for another workload, which promscaler does not scale now, correct spec.scaleTargetRef: kubectl edit -n shop scalers.promscaler.dev web',
      'Keep one of the two scalers. To keep the other, delete shop/web: kubectl delete -n shop scalers.promscaler.dev web',
      'To keep this scaler, delete shop/other (or its file): kubectl delete -n shop scalers.promscaler.dev other',
    ]);
  });

  it('names the files of two scalers with objects of the same names, and these objects, which would take effect', async () => {
    const lines = await remediesFor(NAMED.find(({ state }) => state === 'Conflict')?.what ?? '', {
      name: 'web',
      file: 'web.yaml',
      rejections: [UNUSED],
      otherScaler: {
        kind: 'Scaler',
        namespace: 'shop',
        name: 'other',
        file: 'other.yaml',
        isAlsoObject: true,
      },
    });

    expect(lines.slice(0, 3)).toEqual([
      'If this scaler is for another workload, which promscaler does not scale now, correct spec.scaleTargetRef in web.yaml',
      'Keep one of the two scalers. To keep the other, remove shop/web from web.yaml, and delete the object of this name: kubectl delete -n shop scalers.promscaler.dev web',
      'To keep this scaler, remove shop/other from other.yaml, and delete the object of this name: kubectl delete -n shop scalers.promscaler.dev other',
    ]);
    expect(lines).toHaveLength(5);
  });

  it('advises the deletion of no object that does not exist', async () => {
    const what = NAMED.find(({ state }) => state === 'Conflict')?.what ?? '';
    const other = { kind: 'Scaler', namespace: 'shop', name: 'other' };
    const ofFile = await remediesFor(what, {
      name: 'web',
      file: 'web.yaml',
      otherScaler: { ...other, file: 'other.yaml', isAlsoObject: false },
    });
    const ofObject = await remediesFor(what, { otherScaler: { ...other, file: null, isAlsoObject: false } });

    expect(ofFile.slice(1)).toEqual([
      'Keep one of the two scalers. To keep the other, remove shop/web from web.yaml',
      'To keep this scaler, remove shop/other from other.yaml',
    ]);
    expect(ofObject[2]).toBe(
      'To keep this scaler, delete shop/other: kubectl delete -n shop scalers.promscaler.dev other',
    );
  });

  it('is the end of the pause and the workload, not the end of the dry run, while the target does not exist', async () => {
    const fields = {
      targetFailure: { absence: 'missing', suggestion: null, unusableKind: null },
      target: { kind: 'Deployment', name: 'pay' },
      name: 'pay',
      generation: 1,
    } as const;

    expect(await remediesFor('a pause at a fixed count in dry run', fields)).toEqual([
      'End the pause: promscaler resume shop/pay',
      'Create the Deployment pay, or correct spec.scaleTargetRef or the namespace: kubectl get -A deployment,statefulset',
      'If the workload is no longer needed, delete shop/pay: kubectl delete -n shop scalers.promscaler.dev pay',
    ]);
  });
});
