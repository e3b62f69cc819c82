import { createPrometheusClient } from '../../prometheus/client.js';
import { createProbe } from '../../prometheus/probe.js';
import type { SourceConfig } from '../../prometheus/source-config.js';
import { type Inquiry, REQUEST_MS, type SourceInquiry } from './inquiry.js';

/** The ways to ask a data source. Nothing is asked yet. */
export function openSource(inquiry: Inquiry, source: SourceConfig): SourceInquiry {
  const { clock, signal, env } = inquiry;
  const client = createPrometheusClient(source, clock, env);
  const options = { timeoutMs: REQUEST_MS, signal };
  return {
    ...inquiry,
    source,
    ask: (query) => client.query(query, options),
    startTime: () => client.startTime(options),
    probe: createProbe(source, clock, env),
  };
}
