import { describe, expect, it } from '@jest/globals';
import { withMarkedSection } from './marked-section.js';

describe('a section of a page', () => {
  const first = withMarkedSection('# Benchmarks\n\nother\n', 'reaction', ['old']);

  it('is appended to a page without it', () => {
    expect(first).toBe('# Benchmarks\n\nother\n\n<!-- reaction:begin -->\nold\n<!-- reaction:end -->\n');
  });

  it('is replaced on a page that has it; the rest stays', () => {
    expect(withMarkedSection(`${first}\nafter\n`, 'reaction', ['new', 'lines'])).toBe(
      '# Benchmarks\n\nother\n\n<!-- reaction:begin -->\nnew\nlines\n<!-- reaction:end -->\n\nafter\n',
    );
  });

  it('leaves the sections of others alone', () => {
    expect(withMarkedSection(first, 'scale', ['new'])).toBe(
      `${first}\n<!-- scale:begin -->\nnew\n<!-- scale:end -->\n`,
    );
  });
});
