import { type Finding, finding, formatPath, type IsBroken, type Path } from '../scaler/problems/finding.js';
import { didYouMean } from '../scaler/problems/nearest.js';
import { PROBLEM_CLASSES } from '../scaler/problems/problem-codes.js';
import { checkPatterns, checkPodLabel, checkTypes } from '../scaler/rules/query-result-rules.js';
import { checkPromql } from '../scaler/rules/query-rules.js';
import { isTimeZone } from '../schedules/local-time.js';
import { checkCron, unknownTimeZone } from '../scaler/rules/schedule-rules.js';
import { checkRules } from '../scaler/rules/check-rules.js';
import type { DocumentInput, Loose } from '../scaler/schema/document-schema.js';
import { largestWrittenRangeSeconds } from '../promql/ranges.js';
import { listVariables } from '../promql/variables.js';
import { RESOURCE_QUERIES } from './default-queries.js';
import { type ReceiverInput, type ServiceInput, serviceSections } from './service-schema.js';
import { DEFAULT_FLAVOR, type SourceInput } from './source-schema.js';
import { DEFAULT_SCRAPE_INTERVAL_SECONDS, SCRAPES_IN_WINDOW } from '../units/bounds.js';

const RESOURCE_VARIABLES: readonly string[] = ['namespaces', 'window'];

const AUTHENTICATION_FIELDS = ['bearerTokenFile', 'basicAuth', 'oauth2', 'sigv4', 'azure', 'google'] as const;

/** Checks the rules that involve several fields, as far as these fields could be read. */
export function checkServiceRules(config: Loose<ServiceInput>, isBroken: IsBroken): readonly Finding[] {
  const sources = Object.entries(config.prometheus ?? {});
  const findings = sources.flatMap(([name, source]) =>
    source === undefined ? [] : checkSource(source, ['prometheus', name], isBroken),
  );
  if (config.prometheus !== undefined && sources.length === 0 && !isBroken(['prometheus'])) {
    findings.push(finding('wrong-settings', ['prometheus'], 'the field prometheus must have a data source'));
  }
  return [
    ...findings,
    ...checkScalerSources(config.scalers),
    ...(isBroken(['leaderElection']) ? [] : checkElection(config.leaderElection)),
    ...checkSharding(config),
    ...checkAuth(config.server?.auth, isBroken),
    ...checkReceivers(config.notifications, isBroken),
    ...checkRecommendations(config.recommendations, isBroken),
    ...checkDefaults(config, isBroken),
  ];
}

function checkScalerSources(scalers: Loose<ServiceInput>['scalers']): readonly Finding[] {
  if (scalers?.paths?.length !== 0 || scalers.customResources === true) return [];
  const message =
    'scalers.paths is empty, must name a file or directory unless scalers.customResources is true';
  return [finding('wrong-settings', ['scalers', 'paths'], message)];
}

function checkSource(source: Loose<SourceInput>, path: Path, isBroken: IsBroken): Finding[] {
  return [
    ...checkAuthorization(source, path),
    ...(isBroken([...path, 'scrapeIntervalSeconds']) ? [] : checkWindow(source, path)),
    ...checkQueries(source, path),
    ...checkResourceWindows(source, path),
  ];
}

function checkAuthorization(source: Loose<SourceInput>, path: Path): readonly Finding[] {
  const { headers = {}, oauth2, tls } = source;
  const findings: Finding[] = [];
  const header = Object.keys(headers).find((name) => name.toLowerCase() === 'authorization');
  const given = [
    ...(header === undefined ? [] : [['headers', header]]),
    ...AUTHENTICATION_FIELDS.filter((way) => source[way] !== undefined).map((way) => [way]),
  ];
  const [first, second] = given;
  if (first !== undefined && second !== undefined) {
    const message = `${formatPath([...path, ...second])} and ${formatPath([...path, ...first])} both set the Authorization header`;
    findings.push({ ...finding('wrong-settings', [...path, ...second], message), at: 'key' });
  }
  return [
    ...findings,
    ...checkTls(tls, [...path, 'tls']),
    ...checkTls(oauth2?.tls, [...path, 'oauth2', 'tls']),
  ];
}

/**
 * Reports a window shorter than four scrape intervals: after a failed scrape, it may have too few samples for a rate.
 */
function checkWindow(source: Loose<SourceInput>, path: Path): readonly Finding[] {
  const { resourceWindowSeconds: window, scrapeIntervalSeconds: scrape = DEFAULT_SCRAPE_INTERVAL_SECONDS } =
    source;
  const least = SCRAPES_IN_WINDOW * scrape;
  if (window === undefined || window >= least) return [];
  const place = [...path, 'resourceWindowSeconds'];
  const message = `${formatPath(place)} is ${window}, must be at least ${least}: four times scrapeIntervalSeconds (${scrape})`;
  return [finding('wrong-settings', place, message)];
}

function checkQueries(source: Loose<SourceInput>, path: Path): readonly Finding[] {
  return Object.entries(source.resourceQueries ?? {}).flatMap(([resource, query]) => {
    if (query === undefined) return [];
    const place = [...path, 'resourceQueries', resource];
    const unknown = listVariables(query).filter(({ name }) => !RESOURCE_VARIABLES.includes(name));
    const findings = unknown.map(({ name, offset }) => {
      const hint = didYouMean(name, RESOURCE_VARIABLES).replace('"', '"$');
      const message = `${formatPath(place)}: $${name} is not a variable; the variables are $namespaces, $window${hint}`;
      return { ...finding('unknown-variable', place, message), offset };
    });
    const isMetricsql = source.flavor === 'victoriametrics';
    const placed = { query, path: place, isMetricsql };
    const refused = [...checkPromql(query, place, { isMetricsql }), ...findings, ...checkTypes(placed)];
    // A rejected query gets no warnings.
    if (refused.some(({ code }) => code !== 'query-unknown')) return refused;
    return [
      ...refused,
      ...checkPodLabel(placed),
      ...checkPatterns(placed),
      ...(resource === 'cpu' ? checkWindowIsKnown(source, query, place) : []),
    ];
  });
}

/**
 * Reports a cpu query whose window is unknown, because the name of a recording rule does not show its window. Without
 * the window, promscaler cannot know whether the usage of a young pod is complete.
 */
function checkWindowIsKnown(source: Loose<SourceInput>, query: string, path: Path): readonly Finding[] {
  const takesWindow = listVariables(query).some(({ name }) => name === 'window');
  if (takesWindow || source.resourceWindows?.cpu !== undefined || largestWrittenRangeSeconds(query) > 0)
    return [];
  const message = `${formatPath(path)} has neither $window nor a range, so its window is unknown: set ${formatPath([...path.slice(0, -2), 'resourceWindows', 'cpu'])} to the window of the recording rule, in seconds`;
  return [finding('resource-window', path, message)];
}

function checkResourceWindows(source: Loose<SourceInput>, path: Path): readonly Finding[] {
  return (['cpu', 'memory'] as const).flatMap((resource) => {
    if (source.resourceWindows?.[resource] === undefined) return [];
    const query = source.resourceQueries?.[resource] ?? RESOURCE_QUERIES[resource];
    if (listVariables(query).every(({ name }) => name !== 'window')) return [];
    const place = [...path, 'resourceWindows', resource];
    const message = `${formatPath(place)} has no effect, because the ${resource} query uses $window: set ${formatPath([...path, 'resourceWindowSeconds'])} instead`;
    return [finding('resource-window', place, message)];
  });
}

/**
 * Reports times that violate leaseDuration > renewDeadline > 1.2 x retryPeriod. The leader must stop before another
 * replica takes over, and must have time for a second attempt to renew. If the config sets only one of the two fields
 * that are compared, the problem is at that field, otherwise at the first one. Source: reliability.md, W15.
 */
function checkElection(input: Loose<ServiceInput>['leaderElection']): readonly Finding[] {
  if (input === undefined) return [];
  const {
    leaseDurationSeconds: lease,
    renewDeadlineSeconds: renew,
    retryPeriodSeconds: retry,
  } = serviceSections.leaderElection.parse(input);
  const at = (field: keyof typeof input): Path => ['leaderElection', field];
  const findings: Finding[] = [];
  if (lease <= renew) {
    const [field, rule] =
      input.leaseDurationSeconds === undefined
        ? (['renewDeadlineSeconds', `is ${renew}, must be below leaseDurationSeconds (${lease})`] as const)
        : (['leaseDurationSeconds', `is ${lease}, must be above renewDeadlineSeconds (${renew})`] as const);
    findings.push(finding('wrong-settings', at(field), `leaderElection.${field} ${rule}`));
  }
  if (renew * 5 <= retry * 6) {
    const [field, rule] =
      input.renewDeadlineSeconds === undefined
        ? ([
            'retryPeriodSeconds',
            `is ${retry}, must be below renewDeadlineSeconds (${renew}) divided by 1.2`,
          ] as const)
        : ([
            'renewDeadlineSeconds',
            `is ${renew}, must be above 1.2 times retryPeriodSeconds (${retry})`,
          ] as const);
    findings.push(finding('wrong-settings', at(field), `leaderElection.${field} ${rule}`));
  }
  return findings;
}

function checkAuth(
  auth: NonNullable<Loose<ServiceInput>['server']>['auth'],
  isBroken: IsBroken,
): readonly Finding[] {
  const path = ['server', 'auth'];
  if (auth === undefined || isBroken(path)) return [];
  const { bearerTokenFile, tokenReview } = auth;
  if ((bearerTokenFile === undefined) !== (tokenReview === undefined)) return [];
  const which =
    tokenReview === undefined
      ? 'neither bearerTokenFile nor tokenReview'
      : 'both bearerTokenFile and tokenReview';
  return [
    finding('wrong-settings', path, `server.auth has ${which}, must have exactly one of the two fields`),
  ];
}

/**
 * Reports sharding without Leases or without state in the cluster: a bucket would lose its forbidden windows when it
 * moves to another replica.
 */
function checkSharding({ sharding, leaderElection, state }: Loose<ServiceInput>): readonly Finding[] {
  if (sharding?.enabled !== true) return [];
  const disabled = [
    ...(leaderElection?.enabled === false ? ['leaderElection'] : []),
    ...(state?.enabled === false ? ['state'] : []),
  ];
  return disabled.map((name) => {
    const message = `${name}.enabled is false, must be true while sharding.enabled is true`;
    return finding('wrong-settings', [name, 'enabled'], message);
  });
}

function checkRecommendations(
  input: Loose<ServiceInput>['recommendations'],
  isBroken: IsBroken,
): readonly Finding[] {
  const path = ['recommendations'];
  if (isBroken(path)) return [];
  const { schedule, timeZone } = serviceSections.recommendations.parse(input ?? {});
  if (!isTimeZone(timeZone)) return [unknownTimeZone([...path, 'timeZone'], timeZone)];
  return checkCron(schedule, timeZone, [...path, 'schedule']);
}

/** Checks `defaults` by the rules for documents. */
function checkDefaults(
  { defaults, prometheus = {} }: Loose<ServiceInput>,
  isBroken: IsBroken,
): readonly Finding[] {
  if (defaults === undefined) return [];
  const sources = Object.entries(prometheus).map(([name, source]) => ({
    name,
    flavor: source?.flavor ?? DEFAULT_FLAVOR,
    namespaces: [],
  }));
  const inDefaults = (path: Path): Path => ['defaults', ...path.slice(1)];
  const spec: Loose<DocumentInput['spec']> = defaults;
  return checkRules({ spec }, (path) => isBroken(inDefaults(path)), { sources })
    .filter(({ code }) => PROBLEM_CLASSES[code] !== 'warning' && code !== 'scale-to-zero')
    .map((found) => ({
      ...found,
      path: inDefaults(found.path),
      message: found.message.replaceAll(/\bspec\./g, 'defaults.'),
    }));
}

/** Limits the receivers, because each one has a queue and a connection. */
const MAX_RECEIVERS = 10;

function checkReceivers(
  receivers: Loose<ServiceInput>['notifications'],
  isBroken: IsBroken,
): readonly Finding[] {
  const all = Object.entries(receivers ?? {});
  const path = ['notifications'];
  const count = `notifications has ${all.length} receivers, must have at most ${MAX_RECEIVERS}`;
  return [
    ...(all.length > MAX_RECEIVERS ? [finding('wrong-settings', path, count)] : []),
    ...all.flatMap(([name, receiver]) =>
      receiver === undefined ? [] : checkReceiver(receiver, [...path, name], isBroken),
    ),
  ];
}

function checkReceiver(receiver: Loose<ReceiverInput>, path: Path, isBroken: IsBroken): readonly Finding[] {
  const { url, urlFile, format, tls } = receiver;
  const findings: Finding[] = [];
  const report = (message: string): void =>
    void findings.push({ ...finding('wrong-settings', path, `${formatPath(path)} ${message}`), at: 'key' });
  // An invalid `url` or `urlFile` is already reported. This rule must not treat it as unset.
  const isKnown = !isBroken([...path, 'url']) && !isBroken([...path, 'urlFile']);
  if (isKnown && (url === undefined) === (urlFile === undefined)) report('must have either url or urlFile');
  if (format === 'slack' && url !== undefined)
    report('must have urlFile: the URL of a Slack webhook is a secret');
  return [...findings, ...checkTls(tls, [...path, 'tls'])];
}

function checkTls(tls: Loose<SourceInput>['tls'], path: Path): readonly Finding[] {
  if (tls === undefined || (tls.certFile === undefined) === (tls.keyFile === undefined)) return [];
  const message = `${formatPath(path)} must have both certFile and keyFile, or neither of the two`;
  return [{ ...finding('wrong-settings', path, message), at: 'key' }];
}
