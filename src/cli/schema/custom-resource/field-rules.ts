import type { JsonSchema } from '../json-schema.js';
import type { SchemaAdditions } from './structural-schema.js';

/** A rule in CEL, which the API server checks as it takes an object, and the sentence for where it does not hold. */
function rule(expression: string, message: string): JsonSchema {
  return { rule: expression, message };
}

const METRIC_MEMBERS = ['resource', 'containerResource', 'pods', 'object', 'external'] as const;

/**
 * Rules over several fields that the API server can check already. Only what is wrong whatever the service config says,
 * and what is cheap: `metrics` has no largest length, so that a rule in CEL for each of them costs more than is
 * allowed. All the other rules are those of the service, which tells them in the condition Accepted.
 */
export const FIELD_RULES: SchemaAdditions = {
  spec: {
    'x-kubernetes-validations': [
      rule(
        '!has(self.minReplicas) || self.minReplicas <= self.maxReplicas',
        'minReplicas must be at most maxReplicas',
      ),
      rule(
        "!has(self.scaleTargetRef.kind) || self.scaleTargetRef.kind != 'DaemonSet'",
        'a DaemonSet runs one pod on each node and has no replicas that could be scaled',
      ),
    ],
  },
  'spec.metrics[]': { oneOf: METRIC_MEMBERS.map((member) => ({ required: [member] })) },
  'spec.schedules[]': {
    'x-kubernetes-validations': [
      rule('has(self.start) == has(self.end)', 'start and end go together'),
      rule('has(self.start) || has(self.dates)', 'a schedule needs start and end, or dates'),
      rule(
        'has(self.minReplicas) || has(self.maxReplicas)',
        'a schedule needs minReplicas or maxReplicas: it changes nothing otherwise',
      ),
      rule(
        '!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas',
        'minReplicas must be at most maxReplicas',
      ),
    ],
  },
};
