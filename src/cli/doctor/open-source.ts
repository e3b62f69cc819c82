import { createPrometheusClient } from '../../prometheus/client.js';
import { createProbe } from '../../prometheus/probe.js';
import type { SourceConfig } from '../../prometheus/source-config.js';
import { type Inquiry, REQUEST_MS, type SourceInquiry } from './inquiry.js';

export interface OpenedSource extends SourceInquiry {
  /** The same with the config that fits the server, where its flavor is not written. */
  readonly recognized: () => Promise<SourceInquiry>;
}

/** The ways to ask a data source. Nothing is asked yet. */
export function openSource(inquiry: Inquiry, source: SourceConfig): OpenedSource {
  const { clock, signal, env } = inquiry;
  const client = createPrometheusClient(source, clock, env);
  const options = { timeoutMs: REQUEST_MS, signal };
  const opened: SourceInquiry = {
    ...inquiry,
    source,
    ask: (query) => client.query(query, options),
    startTime: () => client.startTime(options),
    probe: createProbe(source, clock, env),
  };
  const recognized = async (): Promise<SourceInquiry> => {
    await client.recognize?.(options);
    return { ...opened, source: client.fittingConfig?.() ?? source };
  };
  return { ...opened, recognized };
}
