import { PLACEHOLDER } from '../../scaler/read/parse-scaler.js';
import { metricNames } from '../../promql/vector-selectors.js';
import { defined } from '../draft/draft.js';
import { readQuantity } from '../manifest/fields.js';
import { queryItem } from '../manifest/named-metric.js';
import { DEFAULT_SOURCE, type SourceNames, normalAddress } from '../manifest/context.js';
import {
  type ActivationStep,
  type ReadTrigger,
  type Trigger,
  metadataFlag,
  metadataText,
  offMetric,
  readActivation,
  remarkOnRest,
} from './trigger.js';

/** Maps settings for the connection to fields of a data source. */
const SOURCE_FIELDS: Readonly<Record<string, string>> = {
  customHeaders: 'headers',
  cortexOrgID: 'headers (X-Scope-OrgID)',
  unsafeSsl: 'tls',
  timeout: 'timeoutSeconds',
  authModes: 'bearerTokenFile, basicAuth, tls or headers',
  awsRegion: 'sigv4',
  identityOwner: 'sigv4, azure or google',
};

/**
 * Settings that add parameters to the URL of each query, and what to do instead: a data source has no field for
 * parameters.
 */
const URL_FIELDS: Readonly<Record<string, string>> = {
  namespace: 'use a server that does not require this parameter, and add a matcher to the query',
  queryParameters: 'the field flavor sets the parameters that prevent partial responses',
};

const THRESHOLD = 'activationThreshold';

/** Converts a prometheus trigger to an External metric. */
export function readPrometheus(trigger: Trigger, sources: SourceNames, step: ActivationStep): ReadTrigger {
  const { metadata, path } = trigger;
  const { log } = metadata;
  const query = metadataText(metadata, 'query') ?? '';
  const written = metadataText(metadata, 'metricName');
  const threshold = readQuantity(metadataText(metadata, 'threshold'));
  const name = trigger.name ?? written ?? metricNames(query)[0] ?? `trigger-${trigger.index}`;
  const source = readSource(trigger, sources);
  const activation = readActivation(metadata, [THRESHOLD], step);
  const isNullIgnored = metadataFlag(metadata, 'ignoreNullValues') ?? true;
  remarkOnRest(metadata, [THRESHOLD]);
  const body = {
    metric: { name },
    query: query === '' ? PLACEHOLDER : query,
    source: source === DEFAULT_SOURCE ? undefined : source,
    target: { [trigger.metricType === 'Value' ? 'value' : 'averageValue']: threshold ?? PLACEHOLDER },
    activation,
    onMissing: isNullIgnored ? 'zero' : undefined,
    onNaN: isNullIgnored ? 'zero' : undefined,
  };
  if (query === '' || threshold === undefined) {
    const field = query === '' ? 'query' : 'threshold';
    log.lose([...metadata.path, field], `is missing or invalid. FILL IN the ${field}`);
    return offMetric(trigger, defined(body));
  }
  if (isNullIgnored) log.note([...metadata.path, 'ignoreNullValues'], IGNORE_NULL);
  const external = { ...defined(body), query };
  return { list: 'metrics', item: queryItem('external', external, { from: path, log }) };
}

/** As in KEDA, a query without series, NaN and infinity count as 0. Source: pkg/scalers/prometheus_scaler.go */
const IGNORE_NULL =
  'is true, the default of KEDA: no result and NaN count as 0. Remove onMissing and onNaN to hold the replicas instead.';

function readSource(trigger: Trigger, sources: SourceNames): string {
  const { metadata, authentication } = trigger;
  const address = normalAddress(metadataText(metadata, 'serverAddress') ?? '');
  const source = sources.get(address) ?? DEFAULT_SOURCE;
  const path = [...metadata.path, 'serverAddress'];
  if (address !== '') {
    const message = `is ${withoutCredentials(address)}: the data source ${source} in the service config must have this URL`;
    if (source === DEFAULT_SOURCE) metadata.log.note(path, message);
    else metadata.log.lose(path, message);
  }
  const field = `prometheus.${source}`;
  if (authentication !== null)
    metadata.log.lose(
      [...trigger.path, 'authenticationRef'],
      `is ${authentication}: configure authentication in the data source ${field} of the service config`,
    );
  for (const [key, setting] of Object.entries(SOURCE_FIELDS))
    if (metadata.raw(key) !== undefined && !(key === 'unsafeSsl' && metadataFlag(metadata, key) === false))
      metadata.log.lose(
        [...metadata.path, key],
        `is a setting of the data source: set ${setting} of ${field}`,
      );
  for (const [key, instead] of Object.entries(URL_FIELDS))
    if (metadata.raw(key) !== undefined)
      metadata.log.lose(
        [...metadata.path, key],
        `is a part of the URL of each query, but ${field} of the service config has no field for URL parameters: ${instead}`,
      );
  return source;
}

/** Returns an address without user name, password and parameters. */
function withoutCredentials(address: string): string {
  if (!URL.canParse(address)) return 'not a URL';
  const { protocol, host, pathname } = new URL(address);
  return host === '' ? 'not a URL' : `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
