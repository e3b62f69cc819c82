import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Section } from '../../ui/section.jsx';
import { PartMissing } from '../../ui/states.jsx';
import { usePart } from '../../ui/use-part.js';
import type { WhatIfProps } from './what-if-panel.jsx';

/** Loads the code when the user asks for it. */
export function WhatIfSection(props: WhatIfProps): VNode {
  const [isOpen, setIsOpen] = useState(false);
  const { part, hasFailed } = usePart(loadPanel, isOpen);
  return (
    <Section
      title="What if"
      aside={
        isOpen ? null : (
          <button type="button" onClick={() => setIsOpen(true)}>
            Try another document
          </button>
        )
      }
    >
      {part === null ? (
        <p class="hint">
          Change a field and see the decision that promscaler would have made. Computed in this browser;
          nothing is sent or changed.
        </p>
      ) : (
        <part.WhatIf {...props} />
      )}
      {hasFailed ? <PartMissing /> : null}
    </Section>
  );
}

const loadPanel = () => import('./what-if-panel.jsx');
