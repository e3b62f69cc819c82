/** Above this width, rows are lines of a table; below, each row is a block. The style sheet uses the same width. */
export const WIDE = '(min-width: 62rem)';
