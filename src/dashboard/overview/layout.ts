/** Rows are lines of a table; below, each one is a block. The style sheet has the same width. */
export const WIDE = '(min-width: 62rem)';
