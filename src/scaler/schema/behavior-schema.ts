import * as z from 'zod';
import { MAX_POLICIES, seconds, toleranceValue } from './field-types.js';
import { MAX_REPLICAS } from '../../units/bounds.js';
import { BUILT_IN } from './presets.js';

/** Metadata of the two fields whose default depends on the direction. */
interface DirectionTexts {
  readonly stabilizationWindowSeconds: { readonly description: string; readonly default?: number };
  readonly policies: { readonly description: string };
}

const policy = z.strictObject({
  type: z.enum(['Pods', 'Percent']).meta({ description: 'Unit of value.' }),
  value: z.int().min(1).max(MAX_REPLICAS).meta({
    description: 'Maximum change of the replicas within the period, in pods or in percent.',
  }),
  periodSeconds: seconds(1, 1800).meta({ description: 'Length of the period in seconds.' }),
});

function scalingRules(texts: DirectionTexts) {
  return z.strictObject({
    stabilizationWindowSeconds: seconds(0, 3600).optional().meta(texts.stabilizationWindowSeconds),
    selectPolicy: z.enum(['Max', 'Min', 'Disabled']).optional().meta({
      description:
        'Policy that applies. Max: the policy that allows the largest change; Min: the policy that allows the smallest change; Disabled: there is no scaling in this direction.',
      default: BUILT_IN.selectPolicy,
    }),
    policies: z.array(policy).min(1).max(MAX_POLICIES).optional().meta(texts.policies),
    tolerance: toleranceValue.optional().meta({
      description:
        'Fraction by which a metric may differ from its target without scaling. Default: spec.tolerance.',
    }),
  });
}

const scaleUp = scalingRules({
  stabilizationWindowSeconds: {
    description:
      'Length of the window in seconds. A scale-up goes to the lowest recommendation within this window.',
    default: BUILT_IN.scaleUpStabilizationWindowSeconds,
  },
  policies: {
    description: 'Limits on the change within a period. Default: 4 pods or 100 percent in 15 seconds.',
  },
});

const scaleDown = scalingRules({
  stabilizationWindowSeconds: {
    description:
      'Length of the window in seconds. A scale-down goes to the highest recommendation within this window. Default: spec.downscaleStabilizationSeconds.',
  },
  policies: { description: 'Limits on the change within a period. Default: 100 percent in 15 seconds.' },
});

export const behavior = z.strictObject({
  scaleUp: scaleUp.optional().meta({ description: 'Rules for scale-up.' }),
  scaleDown: scaleDown.optional().meta({ description: 'Rules for scale-down.' }),
});

export type ScalingRulesInput = z.infer<typeof scaleUp>;
