import eslint from '@eslint/js';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const NO_AMBIENT_TIME = [
  { object: 'Date', property: 'now', message: 'use a Clock parameter' },
  { object: 'Math', property: 'random', message: 'use `clock.random()`' },
  { object: 'performance', property: 'now', message: 'use a Clock parameter' },
  { object: 'AbortSignal', property: 'timeout', message: 'use withDeadline of units/clock.ts' },
];

const NO_AMBIENT_TIMERS = ['setTimeout', 'setInterval'].map((name) => ({
  name,
  message: 'use a timer of a Clock parameter',
}));

const NO_PROCESS = { name: 'process', message: 'cli/main.ts is the only user of process' };

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'dist-bench/',
      'dist-e2e/',
      'coverage/',
      'src/dashboard/unused.mjs',
      'test/support/plain-context-environment.mjs',
    ],
  },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    // One program for all files: the project service, which is for editors, takes a third more CPU.
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'max-lines': ['error', { max: 400 }],
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    plugins: { regexp },
    rules: {
      // Nearly every text that an expression sees comes from outside: its time must be linear in the text.
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: true }],
      'no-restricted-properties': ['error', ...NO_AMBIENT_TIME],
      'no-restricted-globals': ['error', ...NO_AMBIENT_TIMERS, NO_PROCESS],
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'use a Clock parameter',
        },
        {
          selector: "BinaryExpression[operator='instanceof'][right.name='Promise']",
          message: 'a function is either synchronous or asynchronous',
        },
      ],
    },
  },
  {
    files: ['src/dashboard/**', 'test/dashboard/**/use-*.test.ts'],
    languageOptions: {
      parserOptions: { project: './tsconfig.dashboard.json', tsconfigRootDir: import.meta.dirname },
    },
    plugins: { 'react-hooks': reactHooks, 'jsx-a11y': jsxA11y },
    // Preact has the attribute names of HTML.
    settings: { 'jsx-a11y': { attributes: { for: ['for'] } } },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      ...jsxA11y.flatConfigs.strict.rules,
      // A part that scrolls takes the focus, so that keys scroll it.
      'jsx-a11y/no-noninteractive-tabindex': ['error', { tags: [], roles: ['region', 'group'] }],
      // The list handles keys and the focus of the links in its rows.
      'jsx-a11y/no-noninteractive-element-interactions': ['error', { handlers: ['onClick', 'onMouseDown'] }],
      // Table: CSS that makes a row a block removes these roles.
      'jsx-a11y/no-redundant-roles': ['error', { thead: ['rowgroup'], tbody: ['rowgroup'] }],
      'jsx-a11y/no-interactive-element-to-noninteractive-role': ['error', { td: ['cell'] }],
    },
  },
  {
    // It plays the servers of the demo and of the tests, for their clients alone.
    files: ['src/simulator/**/*.ts'],
    rules: { 'regexp/no-super-linear-backtracking': 'off', 'regexp/no-super-linear-move': 'off' },
  },
  {
    files: ['src/cli/system-clock.ts', 'src/dashboard/browser-clock.ts'],
    rules: { 'no-restricted-properties': 'off', 'no-restricted-globals': ['error', NO_PROCESS] },
  },
  {
    files: ['src/cli/main.ts'],
    rules: { 'no-restricted-globals': ['error', ...NO_AMBIENT_TIMERS] },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'off',
    },
  },
  {
    // Programs of the build, which are not part of the TypeScript project.
    files: ['**/*.{cjs,mjs}'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: { parserOptions: { project: null } },
    rules: {
      ...tseslint.configs.disableTypeChecked.rules,
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      '@typescript-eslint/no-require-imports': 'off',
      'no-restricted-exports': 'off',
      'no-undef': 'off',
    },
  },
);
