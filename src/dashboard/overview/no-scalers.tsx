import type { VNode } from 'preact';
import { RemedyItem } from '../scaler/what-to-do.jsx';
import { EmptyView } from '../ui/states.jsx';
import type { Selection } from './selection.js';

const FIRST_COMMANDS = [
  ['Write a document for a workload', 'promscaler new deployment/web --max 10 > web.yaml'],
  ['Apply it', 'kubectl apply -f web.yaml'],
] as const;

interface NoScalersProps {
  /** Whether there are scalers that do not match the selection. */
  readonly hasOthers: boolean;
  readonly onChange: (change: Partial<Selection>) => void;
}

/**
 * Shows what the user can do if the list is empty: a button that shows all scalers, or commands that create a scaler.
 */
export function NoScalers({ hasOthers, onChange }: NoScalersProps): VNode {
  if (hasOthers)
    return (
      <EmptyView title="No scaler matches">
        <button type="button" onClick={() => onChange({ search: '', namespace: null, severities: [] })}>
          Show all scalers
        </button>
      </EmptyView>
    );
  return (
    <EmptyView title="No scalers yet">
      <ol class="what-to-do">
        {FIRST_COMMANDS.map(([text, command]) => (
          <RemedyItem key={text} remedy={{ text, snippet: { kind: 'command', text: command } }} />
        ))}
      </ol>
      <p>
        The scaler appears here within seconds. Instead of the second command, the document can be put into
        the directory that promscaler reads. To convert all HPAs, begin with{' '}
        <code>kubectl get hpa -A -o yaml | promscaler import - {'>'} scalers.yaml</code>.
      </p>
    </EmptyView>
  );
}
