import type { PlainObject } from '../../scaler/plain-json.js';
import type { Path } from '../../scaler/problems/finding.js';
import { BUILT_IN, DEFAULT_POLICIES, PRESETS } from '../../scaler/schema/presets.js';
import { defined } from '../draft/draft.js';
import type { Fields } from './fields.js';

interface Policy {
  readonly type: string | undefined;
  readonly value: number | undefined;
  readonly periodSeconds: number | undefined;
}

interface Defaults {
  readonly stabilizationWindowSeconds: number;
  readonly policies: readonly Policy[];
}

/** The defaults of each direction, which the API server writes into each HPA. promscaler has the same defaults. */
const UP: Defaults = {
  stabilizationWindowSeconds: BUILT_IN.scaleUpStabilizationWindowSeconds,
  policies: DEFAULT_POLICIES.scaleUp,
};
const DOWN: Defaults = {
  stabilizationWindowSeconds: PRESETS[BUILT_IN.preset].downscaleStabilizationSeconds,
  policies: DEFAULT_POLICIES.scaleDown,
};

/**
 * Reads `behavior` without the values that equal defaults. An empty `behavior` is kept, because it enables the default
 * policies. `draftPath`: where the comments are placed; default: the path of `behavior` in the manifest.
 */
export function readBehavior(given: Fields | undefined, draftPath?: Path): PlainObject | undefined {
  if (given === undefined) return undefined;
  const behavior = draftPath === undefined ? given : given.at(draftPath);
  const scaleUp = readRules(behavior.object('scaleUp'), UP);
  const scaleDown = readRules(behavior.object('scaleDown'), DOWN);
  behavior.rest();
  return defined({ scaleUp, scaleDown });
}

function readRules(rules: Fields | undefined, defaults: Defaults): PlainObject | undefined {
  if (rules === undefined) return undefined;
  const window = rules.integer('stabilizationWindowSeconds');
  const selectPolicy = rules.text('selectPolicy');
  const policies = readPolicies(rules);
  const tolerance = rules.quantity('tolerance');
  rules.rest();
  const read = defined({
    stabilizationWindowSeconds: window === defaults.stabilizationWindowSeconds ? undefined : window,
    selectPolicy: selectPolicy === BUILT_IN.selectPolicy ? undefined : selectPolicy,
    policies: policies === undefined || isDefault(policies, defaults) ? undefined : policies,
    tolerance,
  });
  return Object.keys(read).length === 0 ? undefined : read;
}

function readPolicies(rules: Fields): readonly Policy[] | undefined {
  const policies = rules.list('policies');
  if (policies?.length === 0) {
    rules.log.lose(
      [...rules.path, 'policies'],
      'is empty, must have at least one policy; the defaults apply',
    );
    return undefined;
  }
  return policies?.map((policy) => {
    const read = {
      type: policy.text('type'),
      value: policy.integer('value'),
      periodSeconds: policy.integer('periodSeconds'),
    };
    policy.rest();
    return read;
  });
}

/** Returns whether the policies are the default policies, in any order. */
function isDefault(policies: readonly Policy[], defaults: Defaults): boolean {
  return keyOf(policies) === keyOf(defaults.policies);
}

function keyOf(policies: readonly Policy[]): string {
  return policies
    .map(({ type, value, periodSeconds }) => [type, value, periodSeconds].join(' '))
    .sort()
    .join();
}
