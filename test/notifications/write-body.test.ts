import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { notificationOf } from '../../src/notifications/notification.js';
import type { Notification } from '../../src/notifications/notification.js';
import { writeBody } from '../../src/notifications/post.js';
import { at } from '../support/builders.js';
import { aFailure, aRescale, failureEvent, rescaleEvent } from './builders.js';

const parsed = (format: 'json' | 'slack' | 'alertmanager', of: readonly Notification[]): unknown =>
  JSON.parse(writeBody(format, of, { until: at(900) }));

describe('the format json', () => {
  it('has the fields of each event, and one sentence', () => {
    expect(parsed('json', [aRescale(), aFailure({ failing: false, message: 'the metric is back' })])).toEqual(
      {
        version: 1,
        events: [
          {
            id: 'run-1',
            event: 'rescale',
            at: '2026-01-01T00:00:00Z',
            namespace: 'shop',
            scaler: 'web',
            direction: 'up',
            from: 3,
            to: 5,
            reason: 'cpu is at 90 % of 60 %',
            text: 'shop/web scaled from 3 to 5: cpu is at 90 % of 60 %',
          },
          {
            id: 'run-2',
            event: 'failure',
            at: '2026-01-01T00:00:00Z',
            namespace: 'shop',
            scaler: 'web',
            subject: 'ScalingActive',
            failing: false,
            message: 'the metric is back',
            text: 'shop/web recovered: ScalingActive: the metric is back',
          },
        ],
      },
    );
  });
});

describe('the format slack', () => {
  it('has one line per event, in which a message can neither mention a channel nor form a link', () => {
    const hostile = aFailure({ message: '<!channel> <https://evil.example|click> a & b' });

    expect(parsed('slack', [aRescale(), hostile])).toEqual({
      text: [
        'shop/web scaled from 3 to 5: cpu is at 90 % of 60 %',
        'shop/web failing: ScalingActive: &lt;!channel&gt; &lt;https://evil.example|click&gt; a &amp; b',
      ].join('\n'),
    });
  });

  it.each([
    ['@all @here @channel ops@example.com', '＠all ＠here ＠channel ops＠example.com'],
    ['[the dashboard](https://evil.example)', '[the dashboard] (https://evil.example)'],
    ['![](https://evil.example/x.png)', '![] (https://evil.example/x.png)'],
    ['[a][b] and [b]: https://evil.example', '[a] [b] and [b] : https://evil.example'],
    ['rate(x[5m]) is 3', 'rate(x[5m]) is 3'],
  ])('has for Mattermost and Rocket.Chat neither a mention nor a link: %s', (message, text) => {
    expect(parsed('slack', [aFailure({ message })])).toEqual({
      text: `shop/web failing: ScalingActive: ${text}`,
    });
  });
});

/** `postableAlerts` of the OpenAPI document of Alertmanager 0.27, api/v2/openapi.yaml. */
const LABEL_SET = { type: 'object', additionalProperties: { type: 'string' } };
const POSTABLE_ALERTS = {
  type: 'array',
  items: {
    type: 'object',
    required: ['labels'],
    properties: {
      startsAt: { type: 'string', format: 'date-time' },
      endsAt: { type: 'string', format: 'date-time' },
      generatorURL: { type: 'string', format: 'uri' },
      labels: { ...LABEL_SET, propertyNames: { pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$' } },
      annotations: LABEL_SET,
    },
    additionalProperties: false,
  },
};

interface PostedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly startsAt?: string;
  readonly endsAt: string;
}

describe('the format alertmanager', () => {
  const alerts = (...of: Parameters<typeof writeBody>[1]): readonly PostedAlert[] =>
    parsed('alertmanager', of) as PostedAlert[];

  it('is a list of alerts of the API v2', () => {
    const ajv = new Ajv();
    addFormats.default(ajv);
    const body = alerts(aRescale(), aFailure(), aFailure({ failing: false }));

    expect([ajv.validate(POSTABLE_ALERTS, body), ajv.errorsText()]).toEqual([true, 'No errors']);
    // Alertmanager rejects an alert no labels, or that ends before it starts.
    for (const { labels, startsAt, endsAt } of body) {
      expect(labels).toHaveProperty('alertname');
      if (startsAt !== undefined) expect(endsAt > startsAt).toBe(true);
    }
  });

  it('ends an alert with the labels of its start', () => {
    const [start, end] = alerts(aFailure(), aFailure({ failing: false, at: at(90), message: 'back' }));

    expect(start).toMatchObject({
      labels: {
        alertname: 'PromscalerFailure',
        severity: 'warning',
        namespace: 'shop',
        scaler: 'web',
        subject: 'ScalingActive',
      },
      startsAt: '2026-01-01T00:00:00Z',
      endsAt: '2026-01-01T00:15:00Z',
    });
    expect(end).toMatchObject({ labels: start?.labels, endsAt: '2026-01-01T00:01:30Z' });
  });
});

describe('a recommendation', () => {
  const recommendation = notificationOf({
    id: 'run-3',
    event: {
      type: 'recommendation',
      at: at(0),
      namespace: 'shop',
      name: 'web',
      message: 'spec.maxReplicas: 20 -> 15:\nit saves 12 %',
    },
  });
  const text = 'shop/web recommendation: spec.maxReplicas: 20 -> 15: it saves 12 %';
  const of = recommendation === null ? [] : [recommendation];

  it('is an event of its own in json, and a line in slack', () => {
    expect(parsed('json', of)).toEqual({
      version: 1,
      events: [
        {
          id: 'run-3',
          event: 'recommendation',
          at: '2026-01-01T00:00:00Z',
          namespace: 'shop',
          scaler: 'web',
          message: 'spec.maxReplicas: 20 -> 15: it saves 12 %',
          text,
        },
      ],
    });
    expect(parsed('slack', of)).toEqual({ text: text.replace('->', '-&gt;') });
  });

  it('is an alert of a day in alertmanager', () => {
    expect(parsed('alertmanager', of)).toEqual([
      {
        labels: { alertname: 'PromscalerRecommendation', severity: 'info', namespace: 'shop', scaler: 'web' },
        annotations: { summary: text },
        startsAt: '2026-01-01T00:00:00Z',
        endsAt: '2026-01-02T00:00:00Z',
      },
    ]);
  });
});

describe('notificationOf', () => {
  it('is nothing for a reload, a change that was held, and the failed change that a condition reports', () => {
    const of = (event: Parameters<typeof notificationOf>[0]['event']): string | undefined =>
      notificationOf({ id: 'x', event })?.event;
    const held = { ...rescaleEvent(), outcome: { kind: 'paused', from: 3, to: 5, message: '' } } as const;

    expect(of({ type: 'reload', at: at(0), scalers: 3, errors: 1 })).toBeUndefined();
    expect(of(held as ReturnType<typeof rescaleEvent>)).toBeUndefined();
    expect(of(failureEvent('web', true, 'change'))).toBeUndefined();
    expect([of(rescaleEvent()), of(failureEvent('web'))]).toEqual(['rescale', 'failure']);
  });

  it('has one line without control and bidi characters', () => {
    const event = { ...failureEvent('web'), message: 'no\nshop/api recovered: \u202egnp.x \u009b31m' };

    expect(notificationOf({ id: 'x', event })).toMatchObject({
      message: 'no shop/api recovered: \ufffdgnp.x \ufffd31m',
    });
  });

  it('truncates a message', () => {
    const event = { ...failureEvent('web'), message: 'x'.repeat(5000) };

    expect(JSON.stringify(notificationOf({ id: 'x', event })).length).toBeLessThan(1300);
  });
});
