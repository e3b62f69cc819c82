import { jest } from '@jest/globals';
import { describeLoad } from './load-behavior.js';
import { E2E_TIMEOUT_MS } from './waiting.js';

jest.setTimeout(E2E_TIMEOUT_MS);

describeLoad('prometheus', 'Prometheus');
