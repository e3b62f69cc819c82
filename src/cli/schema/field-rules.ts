import { MEMBERS, TYPE_OF_MEMBER } from '../../scaler/resolve/metric-form.js';
import type { JsonSchema } from './json-schema.js';
import type { SchemaAdditions } from './structural-schema.js';

function rule(expression: string, message: string): JsonSchema {
  return { rule: expression, message };
}

const IS_SET = MEMBERS.map((member) => `has(self.${member})`);

/** Uses CEL instead of `oneOf`, which the API server reports as a missing field of the first branch. */
const METRIC_RULES = [
  rule(['has(self.type)', ...IS_SET].join(' || '), `a metric must have one of ${MEMBERS.join(', ')}`),
  rule(
    `[${IS_SET.join(', ')}].filter(is_set, is_set).size() <= 1`,
    `a metric can have only one of ${MEMBERS.join(', ')}: write one metric for each`,
  ),
  ...MEMBERS.map((member) => {
    const type = TYPE_OF_MEMBER[member];
    const expression = `!has(self.type) || self.type != '${type}' || has(self.${member})`;
    return rule(expression, `a metric of type ${type} must have the field ${member}`);
  }),
];

/**
 * Rules across fields that the API server checks: only rules that are cheap and hold for any service config. A list
 * with a rule per item needs a maximum length, which limits the estimated cost of the rule. promscaler checks all other
 * rules and reports them in the condition Accepted.
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
  'spec.metrics[]': { 'x-kubernetes-validations': METRIC_RULES },
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
