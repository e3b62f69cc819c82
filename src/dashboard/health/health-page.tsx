import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import type { Loaded } from '../data/use-answer.js';
import { usePart } from '../ui/hooks.js';
import { PageHeading } from '../ui/page.jsx';
import { PartMissing, Waiting } from '../ui/states.jsx';
import { Time } from '../ui/time.jsx';

interface HealthPageProps {
  readonly service: Loaded<ServiceStatus>;
}

export function HealthPage({ service }: HealthPageProps): VNode {
  const { value, error, refresh } = service;
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
        <p class="muted">
          {value.identity}, version {value.version}, started <Time at={value.startedAt} show="ago" />
        </p>
      </PageHeading>
      <part.HealthContent status={value} />
    </>
  );
}

const loadContent = () => import('./health-content.jsx');
