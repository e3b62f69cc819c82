import type { VNode } from 'preact';
import type { Api } from '../data/api.js';
import { serviceRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { PageHeading } from '../ui/page-heading.jsx';
import { Waiting } from '../ui/states.jsx';

export function HealthPage({ api }: { readonly api: Api }): VNode {
  const { value, error, refresh } = useAnswer(api, serviceRequest(), { everyMs: 10_000 });
  return (
    <>
      <PageHeading title="Health" />
      {value === null ? <Waiting error={error} onRetry={refresh} /> : <p>{value.identity}</p>}
    </>
  );
}
