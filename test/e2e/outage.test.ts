import { jest } from '@jest/globals';
import { describeOutage } from './outage-behavior.js';
import { E2E_TIMEOUT_MS } from './waiting.js';

jest.setTimeout(E2E_TIMEOUT_MS);

describeOutage('prometheus', 'Prometheus');
