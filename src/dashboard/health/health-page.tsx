import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import type { Api } from '../data/api.js';
import type { Loaded } from '../data/use-answer.js';
import { formatDistance, parseTime } from '../ui/times.js';
import { PageHeading } from '../ui/page-heading.jsx';
import { Outdated, PartMissing, Waiting } from '../ui/states.jsx';
import { useNow } from '../ui/use-now.js';
import { usePart } from '../ui/use-part.js';

interface HealthPageProps {
  readonly api: Api;
  readonly service: Loaded<ServiceStatus>;
}

/** Shows the state of the service. */
export function HealthPage({ api, service }: HealthPageProps): VNode {
  const { value, error, refresh } = service;
  // An answer can be newer than the last tick. Its times must not be in the future.
  const nowMs = Math.max(useNow(api.clock, 5000), value === null ? 0 : Date.parse(value.at));
  const { part, hasFailed } = usePart(loadContent, true);
  if (value === null || part === null)
    return (
      <>
        <PageHeading title="Health" />
        {hasFailed ? <PartMissing /> : <Waiting error={value === null ? error : null} onRetry={refresh} />}
      </>
    );
  return (
    <>
      <PageHeading title="Health">
        <p class="muted">{introduction(value, nowMs)}</p>
      </PageHeading>
      <Outdated error={error} at={value.at} nowMs={nowMs} />
      <part.HealthContent status={value} nowMs={nowMs} />
    </>
  );
}

function introduction({ version, startedAt, identity }: ServiceStatus, nowMs: number): string {
  const startedMs = parseTime(startedAt);
  const age = startedMs === null ? '' : `, started ${formatDistance(startedMs, nowMs)}`;
  return `${identity}, version ${version}${age}`;
}

const loadContent = () => import('./health-content.jsx');
