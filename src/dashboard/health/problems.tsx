import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import { Badge } from '../ui/badge.jsx';
import { scalerLink } from '../ui/links.js';
import { Section } from '../ui/section.jsx';

interface ProblemsProps {
  readonly status: ServiceStatus;
}

/** Shows the problems of the documents, each with the lines of the document and a caret below the column. */
export function Problems({ status: { problems } }: ProblemsProps): VNode | null {
  if (problems.length === 0) return null;
  return (
    <Section title="Problems in scaler documents" isWide>
      <ul class="health-problems">
        {problems.map(({ severity, code, message, file, line, excerpt }, index) => (
          <li key={`${index} ${code}`}>
            <p class="health-problem">
              {severity === 'error' ? (
                <Badge tone="bad" icon="error" text="Error" />
              ) : (
                <Badge tone="warn" icon="warning" text="Warning" />
              )}
              <span class="health-problem-message">
                <bdi>{message}</bdi>
              </span>
              <code class="muted">{code}</code>
            </p>
            {file === null ? null : (
              <p class="mono muted">
                <bdi>{line === null ? file : `${file}:${line}`}</bdi>
              </p>
            )}
            {excerpt === null ? null : (
              // The excerpt scrolls if it is too wide, because a line break would move the caret away from its column.
              <pre class="health-excerpt" tabIndex={0} aria-label="Lines of the document" role="region">
                {excerpt}
              </pre>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function Conflicts({ status: { conflicts } }: ProblemsProps): VNode | null {
  if (conflicts.length === 0) return null;
  return (
    <Section title="Conflicts with other writers" isWide>
      <ul class="health-problems">
        {conflicts.map(({ namespace, name, message }) => (
          <li key={`${namespace}/${name}`}>
            <p class="health-problem">
              <Badge tone="bad" icon="conflict" text="Conflict" />
              <a href={scalerLink(namespace, name)}>
                <bdi>
                  {namespace}/{name}
                </bdi>
              </a>
              <span class="health-problem-message">
                <bdi>{message}</bdi>
              </span>
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}
