import { engineOfBuild } from '../../../prometheus/engine.js';
import type { SourceConfig } from '../../../prometheus/source-config.js';
import { type Finding, findingsOf } from '../finding.js';
import { REQUEST_MS, type SourceInquiry, sourceSubject } from '../inquiry.js';
import { withoutTrailingSlashes } from '../../../units/base-url.js';

/** Whether the flavor of a data source is that of its server, as far as its build information says. */
export async function checkFlavor(inquiry: SourceInquiry): Promise<readonly Finding[]> {
  const { source } = inquiry;
  const findings = await Promise.all(source.urls.map((url) => checkUrl(inquiry, url)));
  return findings.filter((found) => found !== null);
}

async function checkUrl({ source, probe, signal }: SourceInquiry, url: string): Promise<Finding | null> {
  const make = findingsOf('prometheus', sourceSubject(source));
  const page = `${withoutTrailingSlashes(url)}/api/v1/status/buildinfo`;
  const engine = engineOfBuild(await probe({ url: page, timeoutMs: REQUEST_MS, signal }));
  const key = `prometheus.${source.name}.flavor`;
  const line = `${key}: victoriametrics`;
  if (engine === 'victoriametrics' && source.ifVictoriaMetrics !== null)
    return make.warning(
      `${url} is a VictoriaMetrics and ${key} is not set: it is recognized, but only after it has answered`,
      line,
    );
  if (engine === 'victoriametrics' && source.flavor !== 'victoriametrics')
    return make.failed(
      `${url} is a VictoriaMetrics and ${key} is ${source.flavor}: ${withoutFlavor(source)}`,
      line,
    );
  if (engine === 'other' && source.flavor === 'victoriametrics')
    return make.failed(
      `${url} is not a VictoriaMetrics but ${key} says so: its cpu query leaves out containers that were restarted`,
      `${key}: prometheus, thanos or mimir`,
    );
  return null;
}

function withoutFlavor({ resourceWindowSeconds }: SourceConfig): string {
  return (
    'its answers are about 30 s old, those of a cluster may lack data, and ' +
    `a container that was restarted counts twice for ${resourceWindowSeconds} s`
  );
}
