import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { importOne } from './importing.js';
import { scaledObject, triggers } from './scaled-objects.js';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/queues.md'), 'utf8');

/** Returns the query of the first document below the heading, without white space. */
function queryInGuide(heading: string): string {
  const section = GUIDE.slice(GUIDE.indexOf(`\n## ${heading}\n`));
  const document = parse(/```yaml\n(.*?)```/s.exec(section)?.[1] ?? '') as {
    readonly spec: { readonly metrics: readonly { readonly external: { readonly query: string } }[] };
  };
  return withoutSpace(document.spec.metrics[0]?.external.query ?? '');
}

function withoutSpace(text: string): string {
  return text.replace(/\s/g, '');
}

describe('the query that the import of a ScaledObject proposes', () => {
  it.each([
    ['Kafka', '{ type: kafka, metadata: { consumerGroup: orders, topic: orders, lagThreshold: "1000" } }'],
    ['RabbitMQ', '{ type: rabbitmq, metadata: { vhostName: /, queueName: invoices, value: "30" } }'],
    [
      'SQS',
      '{ type: aws-sqs-queue, metadata: { queueURL: https://sqs.eu.x/1/thumbnails, queueLength: "100" } }',
    ],
  ])('for %s is that of the guide', (heading, trigger) => {
    const { text } = importOne(scaledObject(`minReplicaCount: 1\n${triggers(trigger)}`));

    const comment = /# +(sum\(.*)/.exec(text)?.[1] ?? '';
    expect(withoutSpace(comment)).toBe(queryInGuide(heading));
  });
});
