import type { VNode } from 'preact';
import { Icon } from '../../ui/icon.jsx';
import type { DocumentProblem } from './decide-with.js';

interface ProblemsProps {
  readonly problems: readonly DocumentProblem[];
  /** Connects an input with its problems. */
  readonly id?: string;
}

/** Shows problems with the messages of `promscaler validate`. */
export function Problems({ problems, id }: ProblemsProps): VNode | null {
  if (problems.length === 0) return null;
  return (
    <ul class="document-problems" id={id}>
      {problems.map(({ severity, code, message }, index) => (
        <li key={index} class={severity === 'error' ? 'tone-bad' : 'tone-warn'} dir="auto">
          <Icon name={severity === 'error' ? 'error' : 'warning'} /> {severity}: {message} [{code}]
        </li>
      ))}
    </ul>
  );
}
