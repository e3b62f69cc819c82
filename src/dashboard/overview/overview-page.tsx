import type { VNode } from 'preact';
import type { Api } from '../data/api.js';
import { overviewRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { scalerLink } from '../ui/links.js';
import { PageHeading } from '../ui/page-heading.jsx';
import { Waiting } from '../ui/states.jsx';

export function OverviewPage({ api }: { readonly api: Api }): VNode {
  const { value, error, refresh } = useAnswer(api, overviewRequest(null), { everyMs: 15_000 });
  return (
    <>
      <PageHeading title="Scalers" />
      {value === null ? (
        <Waiting error={error} onRetry={refresh} />
      ) : (
        <ul>
          {value.rows.map(({ namespace, name }) => (
            <li key={`${namespace}/${name}`}>
              <a href={scalerLink(namespace, name)}>{name}</a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
