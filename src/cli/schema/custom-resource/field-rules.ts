import type { JsonSchema } from '../document/json-schema.js';
import type { SchemaAdditions } from './structural-schema.js';

function rule(expression: string, message: string): JsonSchema {
  return { rule: expression, message };
}

const METRIC_MEMBERS = ['resource', 'containerResource', 'pods', 'object', 'external'] as const;

/**
 * Rules across fields for the API server to check: only rules that are cheap and hold for any service config. `metrics`
 * has no maximum length, so a CEL rule per entry would exceed the cost budget. promscaler checks all other rules and
 * reports them in the condition Accepted.
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
        'a DaemonSet runs one pod on each node and has no replicas to scale',
      ),
    ],
  },
  'spec.metrics[]': { oneOf: METRIC_MEMBERS.map((member) => ({ required: [member] })) },
  'spec.schedules[]': {
    'x-kubernetes-validations': [
      rule('has(self.start) == has(self.end)', 'start and end must be set together'),
      rule('has(self.start) || has(self.dates)', 'a schedule must have start and end, or dates'),
      rule(
        'has(self.minReplicas) || has(self.maxReplicas)',
        'a schedule must have minReplicas or maxReplicas: it has no effect otherwise',
      ),
      rule(
        '!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas',
        'minReplicas must be at most maxReplicas',
      ),
    ],
  },
};
