import { describe, expect, it } from '@jest/globals';
import { importAll, importOne } from './importing.js';
import { SERVER, prometheus, scaledObject, triggers } from './scaled-objects.js';

describe('servers of several ScaledObjects', () => {
  it('are data sources: the most frequent is default, the others are named after their host', () => {
    const other = triggers(prometheus().replace(SERVER, 'https://thanos.example.com:9090/'));
    const [a, b, c] = importAll(
      [
        scaledObject(triggers(prometheus()), { name: 'a' }),
        scaledObject(triggers(prometheus()), { name: 'b' }),
        scaledObject(other, { name: 'c' }),
      ].join('---\n'),
    );

    expect([a?.lost, b?.lost]).toEqual([[], []]);
    expect(c?.spec).toMatchObject({ metrics: [{ external: { source: 'thanos-example-com' } }] });
    expect(c?.lost[0]).toContain(
      'serverAddress is https://thanos.example.com:9090: the data source thanos-example-com',
    );
  });

  it.each([
    ['http://user:secret@prometheus:9090'],
    ['user:secret@prometheus:9090'],
    ['//user:secret@prometheus'],
    ['http://prometheus:9090/?token=secret'],
  ])('%s has no password in a comment, line or name', (address) => {
    const one = (server: string, name: string) =>
      scaledObject(triggers(prometheus().replace(SERVER, `"${server}"`)), { name });
    const all = importAll([one(SERVER, 'a'), one(SERVER, 'b'), one(address, 'c')].join('---\n'));

    expect(JSON.stringify(all.map(({ text, lost }) => [text, lost]))).not.toContain('secret');
  });

  it('of other systems have no values in a comment that may be credentials', () => {
    const trigger =
      '{ type: rabbitmq, metadata: { host: "amqp://u:secret@q", password: secret, queueName: jobs } }';
    const { text, lost } = importOne(scaledObject(triggers(trigger)));

    expect(text).toContain('#   queueName: "jobs"\n');
    expect(text).toContain('#   password (not shown, may be a credential)\n');
    expect(text + lost.join()).not.toContain('secret');
  });
});

describe('an HPA that KEDA created', () => {
  const hpa = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: keda-hpa-worker, namespace: shop, ownerReferences: [{ kind: ScaledObject, name: worker, controller: true }] }
spec: { maxReplicas: 3, scaleTargetRef: { name: worker, kind: Deployment } }
`;

  it('is skipped next to its ScaledObject', () => {
    expect(
      importAll(`${hpa}---\n${scaledObject(triggers(prometheus()))}`).map(({ scaler }) => scaler?.name),
    ).toEqual(['worker']);
  });

  it('is not imported without it', () => {
    expect(importAll(hpa)).toMatchObject([
      {
        scaler: null,
        lost: [
          expect.stringContaining(
            'KEDA created it from ScaledObject shop/worker. Import the ScaledObject instead',
          ),
        ],
      },
    ]);
  });
});
