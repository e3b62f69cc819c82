import type { VNode } from 'preact';
import type { Selection } from './selection.js';
import { EmptyView } from '../ui/states.jsx';

const FIRST_COMMANDS = `kubectl get hpa -A -o yaml | promscaler import - > scalers.yaml
promscaler new deployment/web --max 10 > web.yaml`;

interface NoScalersProps {
  /** Whether there are scalers that do not match the selection. */
  readonly hasOthers: boolean;
  readonly onChange: (change: Partial<Selection>) => void;
}

/** Shows what the user can do if the list is empty: a button that shows all scalers, or commands that create one. */
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
      <p>Convert the HPAs of the cluster, or write a document for one workload:</p>
      <pre class="commands">{FIRST_COMMANDS}</pre>
      <p>
        Put the document into the directory that promscaler reads, or create a Scaler object: the scaler
        appears here within seconds.
      </p>
    </EmptyView>
  );
}
