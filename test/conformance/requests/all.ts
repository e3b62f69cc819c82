import type { ConformanceRequest } from '../exchange.js';
import { ACCESS_REQUESTS } from './access.js';
import { DEPLOYMENT_REQUESTS } from './deployments.js';
import { OBJECT_REQUESTS } from './objects.js';
import { POD_REQUESTS } from './pods.js';
import { SCALE_REQUESTS } from './scale.js';

/**
 * The requests of promscaler, its CLI and kubectl, and mistakes near them. Each builds on the state after the earlier
 * ones.
 */
export const REQUESTS: readonly ConformanceRequest[] = [
  ...DEPLOYMENT_REQUESTS,
  ...SCALE_REQUESTS,
  ...POD_REQUESTS,
  ...OBJECT_REQUESTS,
  ...ACCESS_REQUESTS,
];
