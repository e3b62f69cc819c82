import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createEventParser } from '../../../src/dashboard/data/event-parser.js';

const STREAM = [
  'retry: 3000\nid: run-7\n: connected\n\n',
  'id: run-8\nevent: decision\ndata: {"at":1}\n\n',
  'data: one\ndata:two\r\n\r\n',
].join('');

describe('createEventParser', () => {
  it('reads messages and ids, and a message without data only for its id', () => {
    const parser = createEventParser();

    expect(parser.push('retry: 3000\nid: run-7\n: connected\n\n')).toEqual([]);
    expect(parser.lastId()).toBe('run-7');
    expect(parser.push('id: run-8\nevent: decision\ndata: {"at":1}\n\n')).toEqual([
      { type: 'decision', data: '{"at":1}' },
    ]);
    expect(parser.lastId()).toBe('run-8');
    expect(parser.push('data: one\ndata:two\r\n\r\n')).toEqual([{ type: 'message', data: 'one\ntwo' }]);
    expect(parser.lastId()).toBe('run-8');
  });

  it('does not take the id of a message whose end has not arrived', () => {
    const parser = createEventParser();

    parser.push('id: 1\ndata: x\n\nid: 2\ndata: y\n');

    expect(parser.lastId()).toBe('1');
    expect(parser.push('\n')).toEqual([{ type: 'message', data: 'y' }]);
    expect(parser.lastId()).toBe('2');
  });

  it('reads the same messages however the text is cut', () => {
    const whole = createEventParser().push(STREAM);
    expect(whole).toHaveLength(2);

    fc.assert(
      fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 10 }), (cuts) => {
        const parser = createEventParser();
        const ends = [...cuts, STREAM.length].sort((a, b) => a - b);
        const messages = ends.flatMap((end, index) => parser.push(STREAM.slice(ends[index - 1] ?? 0, end)));
        expect(messages).toEqual(whole);
      }),
    );
  });

  it.each([
    ['in one line', 'x'.repeat(1_048_600)],
    ['in many lines', 'data: yyyyyyyyyyyyyyyy\n'.repeat(70_000)],
  ])('throws for a message of more than 1 MiB %s', (_name, text) => {
    expect(() => createEventParser().push(text)).toThrow(RangeError);
  });

  it('never throws otherwise', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (parts) => {
        const parser = createEventParser();
        for (const part of parts) parser.push(part);
      }),
    );
  });
});
